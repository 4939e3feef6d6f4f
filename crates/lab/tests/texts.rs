//! Texts of a reader's own give the weights of `headlight train FILE`.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::{ask, lengths, told};
use serde_json::{Value, json};

/// As a spreadsheet may write it: a byte order mark, semicolons, quotes, line breaks within texts, accents, an empty text, and
/// the line end of another system.
const REVIEWS: &str = "\u{feff}Id;Sentiment;Review;split
1;\"Très bon\";\"Un film \"\"ÉMOUVANT\"\"; je l'ai
vu deux fois\";train
2;mauvais;ENNUYEUX et trop long, hélas;train
3;\"Très bon\";Quelle joie !;train
4;mauvais;;train
5;mauvais;\"Perdu; perdu; PERDU\";train
6;\"Très bon\";Ça m’a plu, du début à la fin;train
7;mauvais;Trop long pour moi;train
8;\"Très bon\";\"Un BON
film, vraiment\";train
9;\"Très bon\";Quel film ÉMOUVANT !;test\r
10;mauvais;Ennuyeux, hélas;test
";

/// Texts whose labels follow their words only in part, so that training stops early.
fn opinions() -> String {
    let mut state = 1_u32;
    let mut next = |below: u32| {
        state = (state * 75 + 74) % 65537;
        state % below
    };
    let mut table = "text,label\n".to_owned();
    for _ in 0..100 {
        let (said, subject, doubt) = (next(2) as usize, next(5) as usize, next(3));
        let label = if doubt == 0 { next(2) as usize } else { said };
        let subject = ["film", "book", "soup", "room", "game"][subject];
        let opinion = ["dull and loud", "well made"][said];
        let label = ["bad", "good"][label];
        let line = format!("\"The {subject}, I think, was {opinion}.\",{label}\n");
        table.push_str(&line);
    }
    table
}

/// What the lab says of a table, and the config of `configs/files/texts.toml` with it.
fn described(table: &str) -> (Value, Value) {
    let texts =
        json!({ "operation": "texts", "samples": { "table": table }, "name": "reviews.csv" });
    let (described, _) = told(&texts, &[]);
    let mut config = json!({
        "data": described["data"],
        "model": {
            "d_model": 16, "n_heads": 2,
            "attention": { "padding_token": described["padding_token"] },
        },
        "training": {
            "epochs": 50, "learning_rate": 3e-3, "keep_best": "held_out_loss", "patience": 5,
        },
    });
    config["data"]["file"] = json!("reviews.csv");
    (described, config)
}

/// What a training begins with, and how it ends.
fn trained(config: &Value, table: &str) -> (Value, Value) {
    let begin = json!({ "operation": "begin", "config": config, "samples": { "table": table } });
    let (begun, _) = told(&begin, &[]);
    loop {
        let (part, floats) = told(&json!({ "operation": "advance", "steps": 7 }), &[]);
        let row: usize = lengths(&begun).iter().sum();
        let rows = part["kept"].as_array().unwrap().len();
        let losses = part["losses"].as_u64().unwrap() as usize;
        assert_eq!(floats.len(), losses + rows * row);
        if part["done"] == json!(true) {
            let (ended, _) = told(&json!({ "operation": "end" }), &[]);
            return (begun, ended);
        }
    }
}

/// The hash is that of `headlight train reviews.csv`.
#[test]
fn a_table_of_a_spreadsheet_gives_the_weights_of_the_command_line() {
    let (described, config) = described(REVIEWS);
    assert_eq!(
        described["choice"],
        "samples: the texts of column `Review`; labels: column `Sentiment`; left out: `Id`"
    );
    assert_eq!(described["data"]["classes"], json!(["Très bon", "mauvais"]));
    assert_eq!(described["data"]["held_out"], 0);
    assert_eq!(described["train"], json!([4, 4]));
    assert_eq!(described["held_out"], json!([1, 1]));
    let notes = described["notes"].to_string();
    assert!(
        notes.contains("Texts without words, each of which becomes [UNK]: 1"),
        "{notes}"
    );
    assert!(notes.contains("of held-out texts"), "{notes}");
    let (begun, ended) = trained(&config, REVIEWS);
    assert_eq!(
        ended["weights_sha256"],
        "e1322ee769ab807323bcff85b10313a0b123340c5a382fcd819edc4ad3d8e073"
    );
    // The samples are held-out ones.
    let samples = begun["samples"].as_array().unwrap();
    let labels: Vec<&Value> = samples.iter().map(|sample| &sample["label"]).collect();
    assert_eq!(labels, [&json!(0), &json!(1)]);
    assert!(samples.iter().all(|sample| sample["number"].is_null()));
    let typed = samples[0]["typed"].as_array().unwrap();
    assert_eq!(typed[..4], [json!(""), json!("Quel"), json!(""), json!("")]);
    assert_eq!(typed.len(), samples[0]["tokens"].as_array().unwrap().len());
}

/// Hash, steps and the best one are those of `headlight train reviews.csv`.
#[test]
fn training_stops_where_the_command_line_does() {
    let table = opinions();
    let (described, config) = described(&table);
    assert_eq!(described["data"]["held_out"], 20);
    let (_, ended) = trained(&config, &table);
    let found = [&ended["step"], &ended["best"]["step"]].map(|step| step.as_u64().unwrap());
    assert_eq!(found, [35, 10]);
    assert_eq!(
        ended["weights_sha256"],
        "1f2a7992c48c6a7862d2f4d9f272a1258c6a0511c44c3bbe075a56573c4cf24a"
    );
}

/// Who asks for a number of steps gets them: a run that was extended goes past the end of its patience.
#[test]
fn steps_that_are_asked_for_are_taken() {
    let table = opinions();
    let (_, config) = described(&table);
    let begin = json!({ "operation": "begin", "config": config, "samples": { "table": table }, "steps": 120 });
    told(&begin, &[]);
    let (part, _) = told(&json!({ "operation": "advance" }), &[]);
    assert_eq!((&part["step"], &part["done"]), (&json!(120), &json!(true)));
    let (ended, _) = told(&json!({ "operation": "end" }), &[]);
    assert!(ended["best"].is_null());
}

#[test]
fn tables_that_cannot_be_trained_on_are_refused_in_a_sentence() {
    let all = "good\nbad\n".repeat(4);
    for (table, words) in [
        ("", "the file is empty"),
        ("label,text\n", "no samples"),
        ("text\nI liked it a lot\nIt was too long\n", "`label`"),
        (
            "label,text\na,one two three\na,four five six\n",
            "at least two classes",
        ),
        (
            "label,text\na,one two three\nb,four five six\n",
            "a class needs two",
        ),
        (
            "label,text\na,one two\na,two one\nb,three\nb,four\n",
            "give 5 or more",
        ),
        ("label,text\na,\"one two\nb,three\n", "never ends"),
        (
            "a,b,label\none two three,four five six,x\none two four,six five six,x\nfive six seven,one one one,y\n",
            "name the column of texts `text`",
        ),
        (&format!("label\n{all}"), "besides the labels"),
        (
            "colour,label\nred,a\nblue,b\nred,a\nblue,b\n",
            "no column holds texts",
        ),
    ] {
        let texts = json!({ "operation": "texts", "samples": { "table": table }, "name": "x.csv" });
        let (refused, _) = ask(&texts, &[]);
        let message = refused["error"].as_str().unwrap_or_default();
        assert!(message.contains(words), "{table}: {message}");
        assert!(!message.contains("--"), "{message}");
        // Columns that have the names are not to be given them.
        let names = message.contains("name the column");
        assert!(!(names && table.starts_with("label,text")), "{message}");
    }
}
