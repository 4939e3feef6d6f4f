//! Texts from outside, in an empty folder: a CSV of sentences becomes a run with words, and so do the grammars.
#![allow(clippy::too_many_lines, missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{config_of, folder, json, mentions, refused, run_in, typed};
use serde_json::Value;

/// The first block of `docs/how-to/words.md` in a language.
fn documented(language: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/words.md");
    let page = fs::read_to_string(page).unwrap();
    let block = page.split(&format!("```{language}\n")).nth(1).unwrap();
    block.split("```").next().unwrap().to_owned()
}

#[test]
fn the_documented_texts_train_and_predict() {
    let folder = folder("words_documented");
    fs::write(folder.join("reviews.csv"), documented("csv")).unwrap();
    fs::write(folder.join("reviews.toml"), documented("toml")).unwrap();
    typed(&folder, "train reviews.toml --run run").done();
    let config = config_of(&folder.join("run"));
    let words = config["data"]["words"]["vocabulary"].as_array().unwrap();
    assert_eq!(
        config["data"]["vocab_size"].as_integer(),
        i64::try_from(3 + words.len()).ok()
    );
    assert_eq!(config["data"]["held_out"].as_integer(), Some(2));
    assert_eq!(
        config["model"]["attention"]["padding_token"].as_integer(),
        Some(1)
    );
    assert_eq!(config["data"]["classes"].as_array().unwrap().len(), 3);

    // The dataset is not needed any more.
    fs::remove_file(folder.join("reviews.csv")).unwrap();
    let predicted = run_in(
        &folder,
        &[
            "predict",
            "run",
            "--text",
            "Not  a\nLOVELY zeppelin!",
            "--json",
        ],
    )
    .done();
    let predicted = json(&predicted.stdout);
    let shown: Vec<&str> = predicted["words"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(shown[..5], ["[CLS]", "not", "a", "lovely", "[UNK]"]);
    assert!(shown.ends_with(&["[PAD]"]));
    let told = typed(&folder, "predict run --text lovely").done();
    assert!(
        mentions(&told.stdout, "lovely") && !told.stdout.contains("PAD"),
        "{}",
        told.stdout
    );

    let tokenizer = json(&fs::read_to_string(folder.join("run/tokenizer.json")).unwrap());
    let first = words[0].as_str().unwrap();
    assert_eq!(tokenizer["model"]["vocab"][first], 3);
    assert_eq!(
        tokenizer["model"]["vocab"].as_object().unwrap().len(),
        3 + words.len()
    );

    // Files of texts, in every form; a text is as long as it likes.
    fs::write(
        folder.join("new.txt"),
        format!("a lovely film\n{}\n", "dull ".repeat(10_000)),
    )
    .unwrap();
    fs::write(
        folder.join("new.csv"),
        "review,other\na lovely film,1\n\"dull, dull\",2\n",
    )
    .unwrap();
    fs::write(
        folder.join("new.jsonl"),
        "{\"review\": \"a lovely film\"}\n{\"review\": \"\"}\n",
    )
    .unwrap();
    for name in ["new.txt", "new.csv", "new.jsonl"] {
        let done = run_in(
            &folder,
            &["predict", "run", name, "--out", "out.csv", "--force"],
        )
        .done();
        let rows = fs::read_to_string(folder.join("out.csv")).unwrap();
        let mut lines = rows.lines();
        // A table keeps its columns; lines and objects become a column of texts.
        let (header, first) = (lines.next().unwrap(), lines.next().unwrap());
        if name == "new.csv" {
            assert!(header.starts_with("review,other,predicted,"), "{rows}");
            assert!(first.starts_with("a lovely film,1,"), "{rows}");
        } else {
            assert!(header.ends_with(",text"), "{rows}");
            assert!(first.ends_with(",a lovely film"), "{rows}");
        }
        assert_eq!(lines.count(), 1);
        match name {
            "new.txt" => assert!(mentions(&done.stderr, "9994"), "{}", done.stderr),
            "new.jsonl" => assert!(done.stderr.contains("[UNK]"), "{}", done.stderr),
            _ => assert_eq!(done.stderr, ""),
        }
    }
    let report = fs::read_to_string(folder.join("run/report.md")).unwrap();
    assert!(
        mentions(&report, "lovely") && !report.contains("[PAD]"),
        "{report}"
    );
    // The matrices name their rows and columns; so do pictures, without padding.
    let weights = [
        "dump",
        "run/config.toml",
        "--weights",
        "run/model.safetensors",
    ];
    let dump = [&weights[..], &["--samples", "new.csv", "--out", "new.npz"]].concat();
    run_in(&folder, &dump).done();
    let shown = typed(&folder, "inspect new.npz").done().stdout;
    let picture = ["inspect", "new.npz", "--svg", "new.svg"];
    run_in(&folder, &picture).done();
    let svg = fs::read_to_string(folder.join("new.svg")).unwrap();
    for drawn in [&shown, &svg] {
        assert!(
            mentions(drawn, "lovely") && !drawn.contains("[PAD]"),
            "{drawn}"
        );
    }
    let padding = typed(&folder, "inspect new.npz --query 6");
    refused(&padding, &["--query", "6"]);
    typed(&folder, "verify run").done();
    let page = fs::read_to_string(folder.join("run/inspector.html")).unwrap();
    assert!(page.contains("lovely"));
}

#[test]
fn texts_give_the_same_bytes_again() {
    let folder = folder("words_again");
    fs::write(folder.join("reviews.csv"), documented("csv")).unwrap();
    fs::write(folder.join("reviews.toml"), documented("toml")).unwrap();
    for run in ["one", "two"] {
        run_in(&folder, &["train", "reviews.toml", "--run", run, "--quiet"]).done();
    }
    // The run's own config says all.
    typed(&folder, "train one/config.toml --run three --quiet").done();
    let weights = |run: &str| fs::read(folder.join(run).join("model.safetensors")).unwrap();
    assert_eq!(weights("one"), weights("two"));
    assert_eq!(weights("one"), weights("three"));
    let rows = folder.join("seeds.jsonl");
    let line = "sweep reviews.toml --seeds 0..3 --out seeds.jsonl";
    typed(&folder, line).done();
    assert_eq!(
        fs::read_to_string(rows)
            .unwrap()
            .lines()
            .filter(|row| row.contains("\"seed\""))
            .count(),
        3
    );
}

#[test]
fn grammars_are_built_in() {
    let folder = folder("words_grammars");
    for name in ["negation", "pronoun", "bank", "apple", "sentiment"] {
        let few = ["--set", "data.samples=40", "--set", "data.held_out=10"];
        let out = format!("{name}.csv");
        run_in(
            &folder,
            &[&["data", name, "--out", &out], &few[..]].concat(),
        )
        .done();
        let rows = fs::read_to_string(folder.join(&out)).unwrap();
        assert!(rows.starts_with("split,label,text\n"), "{rows}");
        assert_eq!(rows.lines().count(), 51);
        let is_marked = name != "sentiment";
        assert!(
            rows.lines()
                .skip(1)
                .all(|row| row.contains("* ") == is_marked),
            "{rows}"
        );
        run_in(
            &folder,
            &[&["train", name, "--run", name, "--quiet"], &few[..]].concat(),
        )
        .done();
        let metrics = fs::read_to_string(folder.join(name).join("metrics.jsonl")).unwrap();
        let last = json(metrics.lines().last().unwrap());
        assert!(last["attention_positive"].is_number(), "{last}");
        let text = if is_marked {
            "the * zebra"
        } else {
            "the zebra"
        };
        let said = typed(&folder, &format!("predict {name} --text '{text}'")).done();
        assert!(mentions(&said.stderr, "1"), "{}", said.stderr);
        // The grammar cannot read this, so it has no label.
        let said = typed(&folder, &format!("predict {name} --text '{text}' --json")).done();
        assert!(json(&said.stdout)["label"].is_null(), "{}", said.stdout);
        // What was written is read: the same sentences with the same classes, as texts of a file.
        let config = format!(
            "data = {{ file = \"{out}\" }}\nmodel = {{ d_model = 4 }}\ntraining = {{ epochs = 1 }}\n"
        );
        fs::write(folder.join("file.toml"), config).unwrap();
        run_in(
            &folder,
            &[
                "train",
                "file.toml",
                "--run",
                &format!("{name}_file"),
                "--quiet",
            ],
        )
        .done();
    }
}

/// What a visitor types: the vocabulary has each word, and the answers are right.
#[test]
fn sentences_of_ones_own_are_answered() {
    let folder = folder("words_sentiment");
    let train = ["train", "sentiment", "--run", "run"];
    let screen = run_in(&folder, &train).done().stdout;
    assert!(mentions(&screen, "positive"), "{screen}");
    for (text, class) in [
        ("The movie was great!", "positive"),
        ("i did not like the food", "negative"),
        ("it wasn't boring", "positive"),
        ("nobody enjoyed this game", "negative"),
        ("the food was great and the staff was nice", "positive"),
        ("great food, great service", "positive"),
        ("not bad", "positive"),
    ] {
        let predict = ["predict", "run", "--text", text, "--json"];
        let predicted = run_in(&folder, &predict).done();
        assert_eq!(predicted.stderr, "", "{text}");
        let predicted = json(&predicted.stdout);
        let found = (predicted["predicted"].as_str(), predicted["label"].as_str());
        assert_eq!(found, (Some(class), Some(class)), "{text}: {predicted}");
    }
    let explain = "predict run --text 'the food was not bad' --explain";
    let explained = typed(&folder, explain).done().stdout;
    assert!(mentions(&explained, "bad"), "{explained}");
}

#[test]
fn faults_of_texts_are_refused() {
    let folder = folder("words_refused");
    let config = |more: &str| {
        format!(
            "data = {{ file = \"t.csv\"{more} }}\nmodel = {{ d_model = 4 }}\ntraining = {{ epochs = 1 }}\n"
        )
    };
    for (text, more, said) in [
        ("a,b\nx,1\n", "", "data.text"),
        ("a,b\nx,1\n", ", text = \"c\"", "data.text"),
        ("text,kind\nx,1\ny,2\n", "", "label"),
        ("text,kind\nx,1\ny,2\n", ", label = \"sort\"", "kind"),
        ("text,label\nx,1\ny,1\n", "", "label"),
        ("text,label\nx,1\ny,1\nz,2\n", "", "2"),
        ("text,label\nx,1\ny,1\nz,odd\nw,odd\n", "", "odd"),
        (
            "text,label\nx,1\ny,2\nz,1\nw,2\n",
            ", held_out = 4",
            "held_out",
        ),
        (
            "text,label\nx,1\ny,2\nz,1\nw,2\n",
            ", words = { min_count = 0 }",
            "min_count",
        ),
        (
            "text,label\nx,1\ny,2\nz,1\nw,2\n",
            ", words = { stem = true }",
            "stem",
        ),
        (
            "text,label\nx,1\ny,2\nz,1\nw,2\n",
            ", vocab_size = 3",
            "vocab_size",
        ),
    ] {
        fs::write(folder.join("t.csv"), text).unwrap();
        fs::write(folder.join("t.toml"), config(more)).unwrap();
        let finished = typed(&folder, "train t.toml --run run");
        assert!(
            finished.stderr.contains(said),
            "{text:?} {more}: {}",
            finished.stderr
        );
        refused(&finished, &[]);
        assert!(!folder.join("run").exists());
    }
    fs::write(folder.join("t.csv"), b"text,label\nok,1\ncaf\xe9,2\n").unwrap();
    fs::write(folder.join("t.toml"), config("")).unwrap();
    refused(&typed(&folder, "train t.toml --run run"), &["3", "4"]);

    typed(&folder, "train quick --run ids --quiet").done();
    let sentence = "data.rule={kind=\"sentence\",corpus=\"bank\"}";
    for arguments in [
        &["predict", "ids", "--text", "words"][..],
        &["predict", "ids"],
        &["predict", "ids", "--text", "a", "--tokens", "1"],
        &["train", "notebook", "--set", sentence, "--run", "x"],
        &["train", "bank", "--set", "model.attention={}", "--run", "x"],
    ] {
        assert_eq!(run_in(&folder, arguments).code, Some(2), "{arguments:?}");
    }
    assert!(!folder.join("x").exists());
}
