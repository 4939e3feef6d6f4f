//! A dataset comes back as it was: `headlight data` writes files that train to the same weights, and what a file has in two
//! ways is told or refused. `crates/data/tests/trips.rs` generates such files.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{ended, folder, mentions, refuses_in, run_in};

/// Texts that no writer of tokens gives back: unknown words and signs, empty ones, those with line breaks.
const ODD: &str = concat!(
    "text,label\n",
    "\"good, good movie!\",a\nbad film,b\n\u{1f642}\u{1f642},a\n,b\n...,a\nGood movie,a\nBad movie,b\n[UNK] unique words,b\n",
    "\"two\nlines\",a\n\"a \"\"quoted\"\" text\",b\n\u{1e9e}Stra\u{df}e \u{130}i,a\nother text,b\n",
);

fn documented() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/words.md");
    let page = fs::read_to_string(page).unwrap();
    let block = page.split("<!-- file: reviews.csv -->\n```csv\n").nth(1);
    block.unwrap().split("```").next().unwrap().to_owned()
}

/// The weights of a file of samples, trained on for an epoch.
fn weights(folder: &Path, file: &str, more: &[&str]) -> Vec<u8> {
    let run = format!("{file}-run");
    let set = ["train", file, "--run", &run, "--set", "training.epochs=1"];
    run_in(folder, &[&set, more].concat()).done();
    fs::read(folder.join(run).join("model.safetensors")).unwrap()
}

#[test]
fn a_copy_of_texts_or_categories_trains_to_the_same_weights() {
    let folder = folder("trips_copies");
    let rows = [
        "a b;c,1,x",
        "\"b, c\",2,y",
        ",1,x",
        "\"\"\"q\"\"\",1,y",
        "a b;c,2,x",
        "d,2,y",
    ];
    let categories = format!("\"color;of;it\",size,label\n{}\n", rows.join("\n"));
    for (name, text) in [
        ("odd", ODD),
        ("reviews", &documented()),
        ("frame", &categories),
    ] {
        let file = format!("{name}.csv");
        fs::write(folder.join(&file), text).unwrap();
        let columns: &[&str] = match name {
            "frame" => &[
                "--set",
                "data.features=[\"color;of;it\", \"size\"]",
                "--set",
                "data.held_out=2",
            ],
            _ => &[],
        };
        let expected = weights(&folder, &file, columns);
        // In the copies, the samples of the split are marked.
        let columns = &columns[..columns.len().min(2)];
        for copy in [format!("{name}-copy.csv"), format!("{name}-copy.jsonl")] {
            let data = ["data", &file, "--out", &copy];
            let held_out = [
                columns,
                if name == "frame" {
                    &["--set", "data.held_out=2"][..]
                } else {
                    &[]
                },
            ]
            .concat();
            run_in(&folder, &[&data, &held_out[..]].concat()).done();
            assert!(weights(&folder, &copy, columns) == expected, "{copy}");
        }
    }
}

/// The config that names columns reads the copy, too, also where the names are each other's.
#[test]
fn a_copy_has_the_columns_of_its_config() {
    let folder = folder("trips_columns");
    let swapped = ODD.replacen("text,label", "label,text", 1);
    fs::write(folder.join("swapped.csv"), swapped).unwrap();
    let config = "[data]\nfile = \"swapped.csv\"\ntext = \"label\"\nlabel = \"text\"\n[model]\nd_model = 4\n[training]\nepochs = 1\n";
    fs::write(folder.join("mine.toml"), config).unwrap();
    let expected = weights(&folder, "mine.toml", &[]);
    for copy in ["copy.csv", "copy.jsonl"] {
        run_in(&folder, &["data", "mine.toml", "--out", copy]).done();
        let file = format!("data.file={copy}");
        let set = [
            "train",
            "mine.toml",
            "--run",
            copy,
            "--set",
            &file,
            "--set",
            "training.epochs=1",
        ];
        let run = folder.join(format!("{copy}-of"));
        let set = set.map(|part| {
            if part == copy {
                run.to_str().unwrap()
            } else {
                part
            }
        });
        run_in(&folder, &set).done();
        assert!(
            fs::read(run.join("model.safetensors")).unwrap() == expected,
            "{copy}"
        );
    }
    let both = [
        "train",
        "swapped.csv",
        "--set",
        "data.text=\"label\"",
        "--set",
        "data.label=\"label\"",
    ];
    refuses_in(&folder, &both, &["label"]);
    fs::write(
        folder.join("both.toml"),
        config.replace("label = \"text\"\n", ""),
    )
    .unwrap();
    refuses_in(&folder, &["train", "both.toml"], &["label"]);
}

/// What could not be read back is not written.
#[test]
fn what_no_reader_takes_is_not_written() {
    let folder = folder("trips_refused");
    let sentences = ["data", "negation", "--set", "data.samples=20"];
    for (classes, part) in [("[\"0.5\", \"b\"]", "0.5"), ("[\"1\", \"b\"]", "b")] {
        let classes = format!("data.classes={classes}");
        for out in ["x.csv", "x.jsonl", "x.npz"] {
            let command = [&sentences[..], &["--set", &classes, "--out", out]].concat();
            let finished = run_in(&folder, &command);
            assert_eq!(finished.code, Some(2), "{command:?}");
            assert!(mentions(&finished.stderr, part), "{}", finished.stderr);
            assert!(!folder.join(out).exists());
        }
    }
    let vocabulary = "data.words={vocabulary=[\"[UNK]\"]}";
    fs::write(folder.join("odd.csv"), ODD).unwrap();
    refuses_in(
        &folder,
        &["train", "odd.csv", "--set", vocabulary],
        &["[UNK]"],
    );
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
        let csv: Vec<String> = (0..8)
            .map(|row| format!("{},w{row}", if row % 2 == 0 { label } else { other }))
            .collect();
        fs::write(
            folder.join("numbers.csv"),
            format!("label,text\n{}\n", csv.join("\n")),
        )
        .unwrap();
        refuses_in(&folder, &["train", "numbers.csv"], &["label"]);
    }
    let jsonl: Vec<String> = (0..8)
        .map(|row| {
            format!(
                "{{\"label\":{},\"text\":\"w\"}}",
                9_007_199_254_740_992_u64 + row % 2
            )
        })
        .collect();
    fs::write(folder.join("numbers.jsonl"), jsonl.join("\n")).unwrap();
    refuses_in(&folder, &["train", "numbers.jsonl"], &["numbers.jsonl"]);
}

/// Training goes on, and standard error names both.
#[test]
fn what_is_one_class_or_nearly_so_is_told() {
    let folder = folder("trips_told");
    let train = |name: &str, rows: &[&str], parts: &[&str]| {
        fs::write(
            folder.join(name),
            rows.join("\n").repeat(4).replace("}{", "}\n{"),
        )
        .unwrap();
        let run = format!("{name}-run");
        let set = ["train", name, "--run", &run, "--set", "training.epochs=1"];
        let finished = run_in(&folder, &set);
        ended(&finished, 0, parts);
        finished
    };
    let line = |label: &str, text: &str| format!("{{\"label\":{label},\"text\":\"{text}\"}}");
    let lines = [line("1", "one"), line("\"1\"", "uno"), line("2", "two")];
    train(
        "types.jsonl",
        &[&lines[0], &lines[1], &lines[2]],
        &["1", "\"1\""],
    );
    let lines = [line("\"Notice\"", "one"), line("\"notice \"", "uno")];
    train("case.jsonl", &[&lines[0], &lines[1]], &["Notice", "notice"]);
    let lines = ["{\"label\":0,\"size\":1}", "{\"label\":1,\"size\":\"1\"}"];
    train("values.jsonl", &lines, &["size=1"]);
}

#[test]
fn held_out_texts_that_are_training_texts_are_counted() {
    let folder = folder("trips_repeated");
    let file = "text,label,split\nA film.,a,train\nA book.,b,train\n\"a  FILM!\",a,test\nabook,b,test\nA song,b,test\n...,a,test\n??,b,train\n";
    fs::write(folder.join("repeated.csv"), file).unwrap();
    let train = |more: &[&str]| {
        let set = [
            "train",
            "repeated.csv",
            "--set",
            "training.epochs=1",
            "--run",
        ];
        run_in(&folder, &[&set, more].concat()).done()
    };
    let finished = train(&["run"]);
    let is_told = |text: &str| {
        text.lines()
            .any(|line| mentions(line, "training texts") && mentions(line, "2"))
    };
    assert_eq!(finished.stderr.matches("training texts").count(), 1);
    assert!(is_told(&finished.stderr), "{}", finished.stderr);
    let screen = finished.stdout.replace("\n        ", "");
    assert!(is_told(&screen), "{screen}");
    fs::write(
        folder.join("repeated.csv"),
        file.replace("FILM", "tale").replace("abook", "bok"),
    )
    .unwrap();
    let finished = train(&["other"]);
    assert!(
        !finished.stderr.contains("training texts"),
        "{}",
        finished.stderr
    );
}

/// As old Macintosh programs end lines.
#[test]
fn lines_may_end_with_a_carriage_return() {
    let folder = folder("trips_returns");
    let lines: Vec<String> = (0..12)
        .map(|row| format!("w{} w{},{}", row % 5, row % 3, row % 2))
        .collect();
    let csv = format!("text,label\n{}\n", lines.join("\n"));
    let jsonl =
        (0..12).map(|row| format!("{{\"text\":\"w{} v\",\"label\":{}}}\n", row % 5, row % 2));
    for (name, text) in [("a.csv", csv), ("a.jsonl", jsonl.collect())] {
        fs::write(folder.join(name), &text).unwrap();
        let expected = weights(&folder, name, &[]);
        let returns = format!("cr-{name}");
        fs::write(folder.join(&returns), text.replace('\n', "\r")).unwrap();
        assert!(weights(&folder, &returns, &[]) == expected, "{name}");
    }
    fs::write(folder.join("new.txt"), "w1 w2\rw3\r").unwrap();
    let predicted = run_in(&folder, &["predict", "a.csv-run", "new.txt", "--out", "-"]).done();
    assert_eq!(predicted.stdout.lines().count(), 3);
}
