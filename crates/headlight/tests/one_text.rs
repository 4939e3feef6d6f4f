//! One long text for the next token: its windows, its held-out end, and what a model of it writes.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::common::{
    asked, config_of, folder, mentions, metrics, printed, read_dump, refuses_each, typed,
};

/// 51 characters, if a line break is one: 12 windows of 4, and what fills none.
const TEXT: &str = "Fox  and hen.\r\n\r\n\tThe hen ran;\r\n\tthe fox ran, too.é\r\nab";

const CONFIG: &str = "\
data = { task = \"next-token\", file = \"t.txt\", seq_len = 4, words = { level = \"character\", lowercase = false, one_text = true } }
model = { d_model = 8, attention = { mask = \"causal\" } }
training = { epochs = 2, batch_size = 4, learning_rate = 0.01 }
";

fn in_folder(name: &str) -> PathBuf {
    let folder = folder(name);
    fs::write(folder.join("t.txt"), TEXT).unwrap();
    fs::write(folder.join("c.toml"), CONFIG).unwrap();
    folder
}

/// What the file holds, by its definition: characters with plain line breaks.
fn characters() -> Vec<String> {
    let text = TEXT.replace("\r\n", "\n");
    text.chars().map(String::from).collect()
}

#[test]
fn samples_are_windows_of_the_text() {
    let folder = in_folder("one_text_windows");
    let all = characters();
    let windows: Vec<&[String]> = all.chunks_exact(4).collect();
    assert_eq!((all.len(), windows.len()), (51, 12));
    typed(
        &folder,
        "train c.toml --run r --set dump.samples=[0,1,2,3,4,5,6,7,8,9]",
    )
    .done();
    let config = config_of(&folder.join("r"));
    let vocabulary = config["data"]["words"]["vocabulary"].as_array().unwrap();
    let vocabulary: Vec<&str> = vocabulary
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    // Two of twelve windows are held out, the last ones, and give no characters.
    assert_eq!(config["data"]["held_out"].as_integer(), Some(2));
    let mut known: Vec<&str> = all[..40].iter().map(String::as_str).collect();
    known.sort_unstable();
    known.dedup();
    let mut sorted = vocabulary.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, known);
    let token = |text: &String| {
        let index = vocabulary.iter().position(|word| word == text);
        index.map_or(2, |index| i64::try_from(index).unwrap() + 3)
    };
    let dump = read_dump(folder.join("r/attention/step-000006.npz"));
    assert_eq!(dump.dims.samples, 10);
    for (sample, window) in windows[..10].iter().enumerate() {
        let tokens: Vec<i64> = window.iter().map(token).collect();
        assert_eq!(dump.tokens(sample)[1..], tokens, "{sample}");
        // The answer at each position is the token after it; the last one is in the next window, unless that is held out.
        let labels = &dump.labels[5 * sample..][..5];
        let next = (sample < 9).then(|| token(&windows[sample + 1][0]));
        for (place, &label) in labels.iter().enumerate() {
            match tokens.get(place).copied().or(next) {
                Some(token) => assert_eq!(label as i64, token, "{sample}, {place}"),
                None => assert!(label.is_nan()),
            }
        }
    }
    // A line break has a name of one line.
    assert!(mentions(
        &printed(&folder, "predict r --text 'a\nb'"),
        "\\n"
    ));
    // As a file of its own, the text has an answer everywhere but after its end.
    assert_eq!(
        asked(&folder, "evaluate r t.txt")["samples"],
        json!(12 * 5 - 1)
    );
    assert_eq!(asked(&folder, "evaluate r")["samples"], json!(2 * 5 - 1));
}

#[test]
fn folds_are_pieces_of_the_text() {
    let folder = in_folder("one_text_folds");
    let all = characters();
    for (fold, held_out) in [("1/3", 0..16), ("2/3", 16..32), ("3/3", 32..48)] {
        let run = format!("f{}", &fold[..1]);
        typed(
            &folder,
            &format!("train c.toml --run {run} --set data.fold={fold}"),
        )
        .done();
        let config = config_of(&folder.join(&run));
        let vocabulary = config["data"]["words"]["vocabulary"].as_array().unwrap();
        let rest = all
            .iter()
            .enumerate()
            .filter(|(place, _)| *place < 48 && !held_out.contains(place));
        let rest: Vec<&str> = rest.map(|(_, text)| text.as_str()).collect();
        assert!(
            vocabulary
                .iter()
                .all(|word| rest.contains(&word.as_str().unwrap())),
            "{fold}"
        );
        assert_eq!(
            asked(&folder, &format!("evaluate {run}"))["samples"],
            json!(4 * 5 - 1)
        );
    }
}

/// Of words, what lies between them is left out; both engines learn the same from them.
#[test]
fn windows_may_be_of_words() {
    let folder = in_folder("one_text_words");
    let words = "data.words.level=word --set data.seq_len=3 --set dump.samples=[0,1,2,3]";
    let losses = ["fused", "burn"].map(|engine| {
        typed(
            &folder,
            &format!("train c.toml --set {words} --engine {engine} --run {engine}"),
        )
        .done();
        let last = metrics(&folder.join(engine)).pop().unwrap();
        last["held_out_loss"].as_f64().unwrap()
    });
    assert!((losses[0] - losses[1]).abs() < 1e-5, "{losses:?}");
    let dump = read_dump(folder.join("fused/attention/step-000002.npz"));
    // Fox and hen | . the hen | ran ; the | fox ran , | too . é: `ab` fills no window.
    assert_eq!((dump.dims.samples, dump.dims.positions), (4, 4));
}

/// A model of one text writes as much as is asked for, and sees a window of it.
#[test]
fn a_text_goes_on() {
    let folder = in_folder("one_text_generate");
    typed(&folder, "train c.toml --run r").done();
    let made = |line: &str| {
        let made = asked(&folder, line);
        let samples = made["samples"].as_array().unwrap().iter();
        let tokens = samples.map(|one| (one["tokens"].clone(), one["ended"].clone()));
        tokens.collect::<Vec<_>>()
    };
    let short = made("generate r --count 3");
    let long = made("generate r --count 3 --length 30");
    for ((short, _), (long, ended)) in short.iter().zip(&long) {
        let (short, long) = (short.as_array().unwrap(), long.as_array().unwrap());
        assert_eq!((short.len(), long.len(), ended), (4, 30, &json!(false)));
        assert_eq!(short[..], long[..4]);
    }
    // The most probable tokens after a window are those after its end in a longer text.
    let greedy = made("generate r --count 1 --length 9 --temperature 0");
    let tokens: Vec<String> = greedy[0]
        .0
        .as_array()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    let line = format!(
        "generate r --count 1 --length 5 --temperature 0 --tokens '{}'",
        tokens[4..8].join(" ")
    );
    assert_eq!(made(&line)[0].0[4].to_string(), tokens[8]);
}

#[test]
fn what_is_no_long_text_is_refused() {
    let folder = in_folder("one_text_refused");
    fs::write(folder.join("l.csv"), "text,label\na,b\nc,d\n").unwrap();
    fs::write(folder.join("short.txt"), "abc").unwrap();
    typed(&folder, "train c.toml --run r").done();
    typed(
        &folder,
        "train c.toml --run n --set data.words.one_text=false --set data.seq_len=30",
    )
    .done();
    let refused = "
train c.toml --run x --set data.seq_len=52              | t.txt | 51 | data.seq_len
train c.toml --run x --set data.held_out=12             | held_out
train c.toml --run x --set data.file='\"l.csv\"'        | l.csv | one_text
train c.toml --run x --set data.task='\"classification\"' | data.task
evaluate r short.txt                                    | short.txt | data.seq_len
data c.toml --out d.csv                                 | d.csv
generate n --length 40                                  | 40 | data.seq_len
generate r --length 0                                   | --length
";
    refuses_each(&folder, "", refused);
}

/// The built-in config of names needs no file, and neither do its runs.
#[test]
fn names_are_part_of_the_program() {
    let folder = folder("one_text_names");
    let short = "--set training.steps=20 --set training.evaluate_at=[] --set dump.samples=[0]";
    typed(&folder, &format!("train names {short} --run r")).done();
    let config = config_of(&folder.join("r"));
    assert_eq!(config["data"]["file"].as_str(), Some("built-in:names.txt"));
    // 3,203 of 32,033 names.
    assert!(asked(&folder, "evaluate r")["samples"].as_u64().unwrap() > 3_203);
    typed(&folder, "train r/config.toml --run again").done();
    assert_eq!(
        fs::read(folder.join("r/model.safetensors")).unwrap(),
        fs::read(folder.join("again/model.safetensors")).unwrap()
    );
    typed(&folder, "verify r").done();
    typed(
        &folder,
        &format!("sweep names {short} --seeds 0..2 --out s.jsonl"),
    )
    .done();
    typed(&folder, "init names").done();
    typed(&folder, "train names.toml --run i --set training.steps=5").done();
}
