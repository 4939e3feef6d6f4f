//! Own dataset files, in an empty folder: what a file says reaches the run, its predictions and its dumps.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{
    asked, config_of, folder, mentions, printed, refuses_typed, set, table, typed, weights,
};
use headlight_npz::NpzWriter;
use serde_json::Value;

const CONFIG: &str = "[data]\nfile = \"mine.csv\"\n[model]\nd_model = 4\n[training]\nepochs = 1\n";

/// A block of `docs/reference/datasets.md`: that of this file, or else the only one of the language.
fn documented(language: &str, name: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/datasets.md");
    let page = fs::read_to_string(page).unwrap();
    let any = format!("```{language}\n");
    let named = format!("<!-- file: {name} -->\n{any}");
    let opening = if page.contains(&named) { named } else { any };
    let mut blocks = page.split(&opening);
    let block = blocks.nth(1).unwrap().split("```").next().unwrap();
    assert!(blocks.next().is_none(), "{language}");
    block.to_owned()
}

/// What the page shows runs as it is, in every format.
#[test]
fn the_documented_files_train_and_predict() {
    let folder = folder("own_documented");
    for (language, name) in [
        ("csv", "mine.csv"),
        ("jsonl", "mine.jsonl"),
        ("text", "new.txt"),
        ("toml", "mine.toml"),
    ] {
        fs::write(folder.join(name), documented(language, name)).unwrap();
    }
    typed(&folder, "train mine.toml --run run").done();
    let config = config_of(&folder.join("run"));
    let data = config["data"].as_table().unwrap();
    let numbers = ["vocab_size", "seq_len", "n_classes"].map(|key| data[key].as_integer());
    // Ids 1 to 9, [CLS] and padding.
    assert_eq!(numbers, [11, 5, 2].map(Some));
    assert_eq!(data["classes"], vec!["ham", "spam"].into());
    let padding = &config["model"]["attention"]["padding_token"];
    assert_eq!(padding.as_integer(), Some(10));

    // Without the dataset, the run alone takes new samples.
    fs::rename(folder.join("mine.csv"), folder.join("moved.csv")).unwrap();
    let told = printed(&folder, "predict run --tokens '3 7 4'");
    // No token attends to padding, so it has no row.
    assert!(mentions(&told, "spam") && !told.contains("[PAD]"), "{told}");
    let with_cls = printed(&folder, "predict run --tokens '0, 3, 7, 4, 10, 10'");
    assert_eq!(with_cls, told);
    let file = printed(&folder, "predict run new.txt");
    assert!(file.starts_with("sample,predicted,probability_ham,probability_spam,"));
    let mut csv = csv::Reader::from_reader(file.as_bytes());
    let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    let tokens =
        |row: &csv::StringRecord| row.iter().skip(4).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(tokens(&rows[0]), ["0", "7", "3", "9", "10", "10"]);
    assert_eq!(tokens(&rows[1]), ["0", "2", "5", "10", "10", "10"]);
    for row in &rows {
        let [ham, spam] = [2, 3].map(|column: usize| row[column].parse::<f64>().unwrap());
        assert!((ham + spam - 1.0).abs() < 1e-6);
        assert_eq!(&row[1], if spam > 0.5 { "spam" } else { "ham" });
    }

    // The other formats, with their own splits.
    let train = |format: &str| {
        let sets = format!("data.held_out=0 training.epochs=1 data.file=mine.{format}");
        typed(
            &folder,
            &format!("train mine.toml --run {format} {}", set(&sets)),
        )
        .done();
    };
    train("jsonl");
    let report = fs::read_to_string(folder.join("jsonl/report.md")).unwrap();
    let counts = "3 training samples; 2 held-out";
    assert!(mentions(&report, counts), "{report}");
    let mut npz = NpzWriter::new();
    npz.array("tokens", &[2, 2], &[7_i64, 3, 2, 5]).unwrap();
    npz.array("labels", &[2], &[1_i64, 0]).unwrap();
    fs::write(folder.join("mine.npz"), npz.finish().unwrap()).unwrap();
    train("npz");
}

/// A copy in another format trains the same model.
#[test]
fn a_copy_in_another_format_is_the_same_dataset() {
    let folder = folder("own_copies");
    fs::write(folder.join("mine.csv"), documented("csv", "mine.csv")).unwrap();
    fs::write(folder.join("mine.toml"), documented("toml", "mine.toml")).unwrap();
    typed(&folder, "train mine.toml --run run").done();
    // A file without padding of its own takes that of a recorded config.
    for (format, config) in [
        ("csv", "mine.toml"),
        ("jsonl", "mine.toml"),
        ("npz", "run/config.toml"),
    ] {
        typed(&folder, &format!("data {config} --out copy.{format}")).done();
        let sets = set(&format!("data.held_out=0 data.file=copy.{format}"));
        typed(&folder, &format!("train {config} --run {format} {sets}")).done();
        assert!(
            weights(&folder, format) == weights(&folder, "run"),
            "{format}"
        );
    }
}

/// The names of classes are in predictions as CSV, as JSON and as text, whatever characters they have.
#[test]
fn names_of_classes_are_in_predictions() {
    let folder = folder("own_names");
    let rows = [("a \"b\", c", 1), ("naïve|x", 2), ("true", 3)];
    let line = |(name, token)| {
        let row = serde_json::json!({ "label": name, "tokens": [token, token] });
        format!("{row}\n")
    };
    let lines = rows.map(line).concat().repeat(20);
    fs::write(folder.join("mine.jsonl"), lines).unwrap();
    let config = CONFIG.replace("csv", "jsonl");
    let config = config.replace("epochs = 1", "epochs = 60");
    fs::write(folder.join("mine.toml"), config).unwrap();
    typed(&folder, "train mine.toml --run run").done();
    for (name, token) in rows {
        let predict = format!("predict run --tokens '{token} {token}'");
        let text = printed(&folder, &predict);
        assert_eq!(text.lines().next(), Some(&*format!("answer: {name}")));
        assert_eq!(asked(&folder, &predict)["predicted"], name);
    }
    for out in ["out.csv", "out.jsonl"] {
        typed(&folder, &format!("predict run mine.jsonl --out {out}")).done();
    }
    let mut csv = csv::Reader::from_path(folder.join("out.csv")).unwrap();
    assert_eq!(&csv.headers().unwrap()[3], "probability_naïve|x");
    let lines = fs::read_to_string(folder.join("out.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 60);
    for (index, (record, line)) in csv.records().zip(lines.lines()).enumerate() {
        let (record, line): (_, Value) = (record.unwrap(), serde_json::from_str(line).unwrap());
        let name = rows[index % 3].0;
        assert_eq!((&record[1], &record[5]), (name, name));
        assert_eq!([&line["predicted"], &line["label"]], [name, name]);
        let probability = line["probabilities"][name].as_f64().unwrap();
        assert!((probability - record[2 + index % 3].parse::<f64>().unwrap()).abs() < 1e-6);
    }
    let report = fs::read_to_string(folder.join("run/report.md")).unwrap();
    assert!(report.contains("naïve\\|x"), "{report}");
}

/// A prediction has the type of its row's label, so that the two can be compared. A held-out row that repeats a training row is
/// named, without the advice to take the held-out rows.
#[test]
fn predictions_have_the_type_of_labels() {
    let folder = folder("own_types");
    for labels in ["false true", "3 7", "\"3\" \"7\"", "\"0\" \"1\""] {
        let (first, second) = labels.split_once(' ').unwrap();
        let row = |label: &str, token: u32, split: &str| {
            let tokens = [token; 2];
            format!("{{\"tokens\": {tokens:?}, \"label\": {label}, \"split\": \"{split}\"}}\n")
        };
        let both = |split: &str| row(first, 1, split) + &row(second, 2, split);
        let rows = both("train").repeat(20) + &both("held_out").repeat(5);
        fs::write(folder.join("mine.jsonl"), rows).unwrap();
        let _ = fs::remove_dir_all(folder.join("run"));
        let set = "--set training.epochs=30 --set training.learning_rate=0.05";
        typed(&folder, &format!("train mine.jsonl {set} --run run")).done();
        typed(&folder, "predict run mine.jsonl --out out.jsonl --force").done();
        let lines = fs::read_to_string(folder.join("out.jsonl")).unwrap();
        for line in lines.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["predicted"], line["label"]);
        }
    }
    let told = printed(&folder, "evaluate run mine.jsonl");
    let known = "10 of these samples are also training samples.";
    assert!(told.contains(known), "{told}");
}

/// Files, with `/` for a line feed and `~` for a carriage return; options; parts of the message.
const REFUSED: &str = r#"
label,token_0~/a,1~/~/b,x~/                   |  | mine.csv: line 4 | x
id,label,token_0/"1/2",a,1/3,b,x/             |  | mine.csv: line 4
label,token_0,token_1/a,0,1/b,1,1/            |  | mine.csv: line 3 | [CLS] = 0
label,token_0,token_1/a,1,1/b,0,1/            |  | mine.csv: line 3 | [CLS] = 0
label,token_0,token_1/a,1,0/b,1,0/            |  | mine.csv: line 2 | data.cls
label,token_0,tokne_1,token_2/a,1,2,3/b,3,2,1/ |  | mine.csv: line 1 | token_2 | token_1
label,token_0/0.1,1/0.6,2/                    |  | mine.csv: line 2 | 0.1
label,token_0/a,1/a,2/                        |  | mine.csv | a
token_0/1/2/                                  |  | mine.csv | label
split,label,token_0/train,a,1/dev,b,1/        |  | mine.csv: line 3 | dev | val
label,token_0/a,1/b,2/c,3/                    | --set data.n_classes=2 | --set data.n_classes=2 | 3 | a, b, c
label,token_0/0,1/1,2/2,3/                    | --set data.n_classes=2 | mine.csv: line 4 | 2
label,token_0/a,1/b,2/                        | --set model.attention.padding_token=-1 | padding_token=-1: `model.attention.padding_token` | whole number
label,token_0,token_1/a,1,2/b,2/              | --set data.vocab_size=3 | mine.csv: line 3 | model.attention.padding_token
"#;

/// Exit code 2, the line, and nothing written.
#[test]
fn refusals_name_the_line() {
    let folder = folder("own_refused");
    fs::write(folder.join("mine.toml"), CONFIG).unwrap();
    for cells in table(REFUSED) {
        let file = cells[0].replace('/', "\n").replace('~', "\r");
        fs::write(folder.join("mine.csv"), file).unwrap();
        refuses_typed(
            &folder,
            &format!("train mine.toml --run run {}", cells[1]),
            &cells[2..],
        );
    }
}

/// A model of two named classes refuses other labels, and tokens that it does not know.
#[test]
fn new_samples_are_checked_against_the_run() {
    let folder = folder("own_new");
    fs::write(folder.join("mine.csv"), documented("csv", "mine.csv")).unwrap();
    fs::write(folder.join("mine.toml"), documented("toml", "mine.toml")).unwrap();
    typed(&folder, "train mine.toml --run run").done();
    for (name, file, parts) in [
        (
            "new.csv",
            "label,token_0\nham,1\neggs,1\n",
            ["new.csv: line 3", "eggs"],
        ),
        (
            "new.csv",
            "label,token_0\nham,1\n\nham,77\n",
            ["new.csv: line 4", "77"],
        ),
        ("new.txt", "1\n\n1 2 3 4 5 6\n", ["new.txt: line 3", "6"]),
    ] {
        fs::write(folder.join(name), file).unwrap();
        refuses_typed(
            &folder,
            &format!("predict run {name} --out out.csv"),
            &parts,
        );
    }
}

/// A share is one of all rows, rounded down; the run's config has the number.
#[test]
fn a_share_of_a_file_is_held_out() {
    let folder = folder("own_share");
    let rows: Vec<String> = (0..25)
        .map(|row| format!("{},{},{}", 1 + row % 4, 1 + row % 3, row % 2))
        .collect();
    let table = format!("token_0,token_1,label\n{}", rows.join("\n"));
    fs::write(folder.join("mine.csv"), table).unwrap();
    for (index, (share, count)) in [("0.2", 5), ("0.3", 7)].into_iter().enumerate() {
        let text = CONFIG.replace("[data]", &format!("[data]\nheld_out = {share}"));
        fs::write(folder.join(format!("{index}.toml")), text).unwrap();
        let (config, run) = (format!("{index}.toml"), format!("r{index}"));
        typed(&folder, &format!("train {config} --run {run}")).done();
        let config = config_of(&folder.join(run));
        assert_eq!(config["data"]["held_out"].as_integer(), Some(count));
    }
}

/// A class that training never sees is told, since no model can know it.
#[test]
fn a_class_of_held_out_samples_alone_is_told() {
    let folder = folder("own_untrained");
    let rows: Vec<String> = (0..20)
        .map(|row| match row {
            0..18 => format!("{},{},train", 1 + row % 4, ["ham", "spam"][row % 2]),
            _ => format!("{},eggs,test", row % 4),
        })
        .collect();
    let table = format!("token_0,label,split\n{}", rows.join("\n"));
    fs::write(folder.join("mine.csv"), table.replace("\n0,", "\n1,")).unwrap();
    fs::write(folder.join("mine.toml"), CONFIG).unwrap();
    let told = typed(&folder, "train mine.toml --run run").done();
    assert!(mentions(&told.stderr, "eggs"), "{}", told.stderr);
}
