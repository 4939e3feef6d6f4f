//! A dataset comes back as it was: `headlight data` writes files that train to the same weights, and what a file has in two
//! ways is told or refused. `crates/data/tests/trips.rs` generates such files.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{Finished, ended, folder, mentions, refuses_typed, typed};

/// Texts that no writer of tokens gives back: unknown words and signs, empty ones, those with line breaks.
const ODD: &str = concat!(
    "text,label\n",
    "\"good, good movie!\",a\nbad film,b\n\u{1f642}\u{1f642},a\n,b\n...,a\nGood movie,a\nBad movie,b\n[UNK] unique words,b\n",
    "\"two\nlines\",a\n\"a \"\"quoted\"\" text\",b\n\u{1e9e}Stra\u{df}e \u{130}i,a\nother text,b\n",
);

/// Columns of categories, of which one has a name that a config must quote.
const CATEGORIES: &str = concat!(
    "\"color;of;it\",size,label\n",
    "a b;c,1,x\n\"b, c\",2,y\n,1,x\n\"\"\"q\"\"\",1,y\na b;c,2,x\nd,2,y\n",
);

/// Trains on a file of samples for an epoch.
fn train(folder: &Path, file: &str, more: &str) -> Finished {
    let train = format!("train {file} --run {file}-run --set training.epochs=1 {more}");
    typed(folder, &train).done()
}

/// The weights of a file of samples, trained on for an epoch.
fn weights(folder: &Path, file: &str, more: &str) -> Vec<u8> {
    train(folder, file, more);
    let weights = format!("{file}-run/model.safetensors");
    fs::read(folder.join(weights)).unwrap()
}

#[test]
fn a_copy_trains_to_the_same_weights() {
    let folder = folder("trips_copies");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/words.md");
    let page = fs::read_to_string(page).unwrap();
    let block = page.split("<!-- file: reviews.csv -->\n```csv\n").nth(1);
    let documented = block.unwrap().split("```").next().unwrap();
    let swapped = ODD.replacen("text,label", "label,text", 1);
    let columns = "--set 'data.features=[\"color;of;it\", \"size\"]'";
    // The config that names columns reads the copy, too, also where the names are each other's.
    let names = "--set data.text=label --set data.label=text --set model.d_model=4";
    for (name, text, sets, split) in [
        ("odd", ODD, "", ""),
        ("reviews", documented, "", ""),
        ("frame", CATEGORIES, columns, "--set data.held_out=2"),
        ("swapped", &swapped, names, ""),
    ] {
        let file = format!("{name}.csv");
        fs::write(folder.join(&file), text).unwrap();
        let expected = weights(&folder, &file, &format!("{sets} {split}"));
        // In the copies, the samples of the split are marked.
        for format in ["csv", "jsonl"] {
            let copy = format!("{name}-copy.{format}");
            typed(&folder, &format!("data {file} --out {copy} {sets} {split}")).done();
            assert!(weights(&folder, &copy, sets) == expected, "{copy}");
        }
    }
    let both = "train swapped.csv --set data.label=label --set data.text=label";
    refuses_typed(&folder, both, &["label"]);
    // Where texts are named, the other one of two columns has the labels.
    fs::write(folder.join("other.csv"), &swapped).unwrap();
    let other = "--set data.text=label --set model.d_model=4";
    let named = fs::read(folder.join("swapped.csv-run/model.safetensors")).unwrap();
    assert!(weights(&folder, "other.csv", other) == named);
}

/// What could not be read back is not written.
#[test]
fn what_no_reader_takes_is_not_written() {
    let folder = folder("trips_refused");
    for (classes, part) in [("[\"0.5\", \"b\"]", "0.5"), ("[\"1\", \"b\"]", "b")] {
        for out in ["x.csv", "x.jsonl", "x.npz"] {
            let sets = format!("--set data.samples=20 --set 'data.classes={classes}'");
            refuses_typed(
                &folder,
                &format!("data negation {sets} --out {out}"),
                &[part],
            );
        }
    }
    fs::write(folder.join("odd.csv"), ODD).unwrap();
    let vocabulary = "train odd.csv --set 'data.words={vocabulary=[\"[UNK]\"]}'";
    refuses_typed(&folder, vocabulary, &["[UNK]"]);
}

/// Two numbers are two classes, also where f64 has one number for both.
#[test]
fn labels_that_f64_cannot_tell_apart_are_refused() {
    let folder = folder("trips_numbers");
    for (label, other) in [
        ("9007199254740993", "9007199254740992"),
        ("1e-400", "0"),
        ("3.00000000000000000001", "3"),
    ] {
        let rows = format!("{label},v\n{other},w\n").repeat(4);
        fs::write(folder.join("numbers.csv"), format!("label,text\n{rows}")).unwrap();
        refuses_typed(&folder, "train numbers.csv", &["label"]);
    }
    let line = |label: &str| format!("{{\"label\":{label},\"text\":\"w\"}}\n");
    let lines = [line("9007199254740992"), line("9007199254740993")].concat();
    fs::write(folder.join("numbers.jsonl"), lines.repeat(4)).unwrap();
    refuses_typed(&folder, "train numbers.jsonl", &["numbers.jsonl"]);
}

/// Training goes on, and standard error names both.
#[test]
fn what_is_one_class_or_nearly_so_is_told() {
    let folder = folder("trips_told");
    let line = |label: &str, text: &str| format!("{{\"label\":{label},\"text\":\"{text}\"}}\n");
    let [one, other, two] =
        [("1", "one"), ("\"1\"", "uno"), ("2", "two")].map(|(label, text)| line(label, text));
    let case = line("\"Notice\"", "one") + &line("\"notice \"", "uno");
    let cases: [(&str, String, &[&str]); 2] = [
        ("types.jsonl", one + &other + &two, &["1", "\"1\""]),
        ("case.jsonl", case, &["Notice", "notice"]),
    ];
    for (name, lines, parts) in cases {
        fs::write(folder.join(name), lines.repeat(4)).unwrap();
        ended(&train(&folder, name, ""), 0, parts);
    }
}

#[test]
fn held_out_texts_that_are_training_texts_are_counted() {
    let folder = folder("trips_repeated");
    let file = "text,label,split\nA film.,a,train\nA book.,b,train\n\"a  FILM!\",a,test\nabook,b,test\nA song,b,test\n...,a,test\n??,b,train\n";
    let is_told = |text: &str| {
        let mut lines = text.lines();
        lines.any(|line| mentions(line, "training texts") && mentions(line, "2"))
    };
    fs::write(folder.join("repeated.csv"), file).unwrap();
    let finished = train(&folder, "repeated.csv", "");
    assert_eq!(finished.stderr.matches("training texts").count(), 1);
    assert!(is_told(&finished.stderr), "{}", finished.stderr);
    assert!(!finished.stdout.contains("training texts"));
    let other = file.replace("FILM", "tale").replace("abook", "bok");
    fs::write(folder.join("other.csv"), other).unwrap();
    let told = train(&folder, "other.csv", "").stderr;
    assert!(!told.contains("training texts"), "{told}");
}

/// As old Macintosh programs end lines.
#[test]
fn lines_may_end_with_a_carriage_return() {
    let folder = folder("trips_returns");
    let rows = 0..12;
    let csv = rows
        .clone()
        .map(|row| format!("w{} w{},{}\n", row % 5, row % 3, row % 2));
    let csv = "text,label\n".to_owned() + &csv.collect::<String>();
    let jsonl = rows.map(|row| format!("{{\"text\":\"w{} v\",\"label\":{}}}\n", row % 5, row % 2));
    for (name, text) in [("a.csv", csv), ("a.jsonl", jsonl.collect())] {
        let returns = format!("cr-{name}");
        fs::write(folder.join(name), &text).unwrap();
        fs::write(folder.join(&returns), text.replace('\n', "\r")).unwrap();
        let expected = weights(&folder, name, "");
        assert!(weights(&folder, &returns, "") == expected, "{name}");
    }
    fs::write(folder.join("new.txt"), "w1 w2\rw3\r").unwrap();
    let predicted = typed(&folder, "predict a.csv-run new.txt --out -").done();
    assert_eq!(predicted.stdout.lines().count(), 3);
}
