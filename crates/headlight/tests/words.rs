//! Texts from outside, in an empty folder: a CSV of sentences becomes a run with words, and so do the grammars.
#![allow(clippy::too_many_lines, missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{
    asked, config_of, folder, json, mentions, metrics, printed, refuses_each, refuses_typed, table,
    typed, weights,
};
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
    let size = config["data"]["vocab_size"].as_integer();
    assert_eq!(size, i64::try_from(3 + words.len()).ok());
    assert_eq!(config["data"]["held_out"].as_integer(), Some(2));
    let padding = &config["model"]["attention"]["padding_token"];
    assert_eq!(padding.as_integer(), Some(1));
    assert_eq!(config["data"]["classes"].as_array().unwrap().len(), 3);

    // The dataset is not needed any more.
    fs::remove_file(folder.join("reviews.csv")).unwrap();
    let predicted = asked(&folder, "predict run --text 'Not  a\nLOVELY zeppelin!'");
    let shown = predicted["words"].as_array().unwrap().iter();
    let shown: Vec<&str> = shown.filter_map(Value::as_str).collect();
    assert_eq!(shown[..5], ["[CLS]", "not", "a", "lovely", "[UNK]"]);
    assert!(shown.ends_with(&["[PAD]"]));
    let told = printed(&folder, "predict run --text lovely");
    assert!(mentions(&told, "lovely") && !told.contains("PAD"), "{told}");

    let tokenizer = json(&fs::read_to_string(folder.join("run/tokenizer.json")).unwrap());
    let first = words[0].as_str().unwrap();
    let vocabulary = tokenizer["model"]["vocab"].as_object().unwrap();
    assert_eq!(vocabulary[first], 3);
    assert_eq!(vocabulary.len(), 3 + words.len());

    // Files of texts, in every form; a text is as long as it likes.
    let long = format!("a lovely film\n{}\n", "dull ".repeat(10_000));
    for (name, text) in [
        ("new.txt", &*long),
        (
            "new.csv",
            "review,other\na lovely film,1\n\"dull, dull\",2\n",
        ),
        (
            "new.jsonl",
            "{\"review\": \"a lovely film\"}\n{\"review\": \"\"}\n",
        ),
    ] {
        fs::write(folder.join(name), text).unwrap();
        let done = typed(
            &folder,
            &format!("predict run {name} --out out.csv --force"),
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
    // The matrices name their rows and columns; so do pictures, without padding.
    let dump =
        "dump run/config.toml --weights run/model.safetensors --samples new.csv --out new.npz";
    typed(&folder, dump).done();
    let shown = printed(&folder, "inspect new.npz");
    let picture = printed(&folder, "inspect new.npz --svg -");
    for text in [report, shown, picture] {
        assert!(
            mentions(&text, "lovely") && !text.contains("[PAD]"),
            "{text}"
        );
    }
    refuses_typed(&folder, "inspect new.npz --query 6", &["--query", "6"]);
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
        typed(&folder, &format!("train reviews.toml --run {run} --quiet")).done();
    }
    // The run's own config says all.
    typed(&folder, "train one/config.toml --run three --quiet").done();
    for run in ["two", "three"] {
        assert!(weights(&folder, run) == weights(&folder, "one"), "{run}");
    }
    typed(&folder, "sweep reviews.toml --seeds 0..3 --out seeds.jsonl").done();
}

#[test]
fn grammars_are_built_in() {
    let folder = folder("words_grammars");
    for name in ["negation", "pronoun", "bank", "apple", "sentiment"] {
        let few = "--set data.samples=40 --set data.held_out=10";
        let rows = printed(&folder, &format!("data {name} --out - {few}"));
        fs::write(folder.join("file.csv"), &rows).unwrap();
        assert!(rows.starts_with("split,label,text\n"), "{rows}");
        assert_eq!(rows.lines().count(), 51);
        let is_marked = name != "sentiment";
        let mut sentences = rows.lines().skip(1);
        assert!(
            sentences.all(|row| row.contains("* ") == is_marked),
            "{rows}"
        );
        typed(&folder, &format!("train {name} --run {name} --quiet {few}")).done();
        let last = metrics(&folder.join(name)).pop().unwrap();
        assert!(last["attention_positive"].is_number(), "{last}");
        let text = ["the zebra", "the * zebra"][usize::from(is_marked)];
        let predict = format!("predict {name} --text '{text}'");
        let told = typed(&folder, &predict).done().stderr;
        assert!(mentions(&told, "1"), "{told}");
        // The grammar cannot read this, so it has no label.
        assert!(asked(&folder, &predict)["label"].is_null());
        // What was written is read: the same sentences with the same classes, as texts of a file.
        let config = "data.file = \"file.csv\"\nmodel.d_model = 4\ntraining.epochs = 1\n";
        fs::write(folder.join("file.toml"), config).unwrap();
        typed(
            &folder,
            &format!("train file.toml --run {name}_file --quiet"),
        )
        .done();
    }
}

/// What a visitor types: the vocabulary has each word, and the answers are right.
#[test]
fn sentences_of_ones_own_are_answered() {
    let folder = folder("words_sentiment");
    let screen = printed(&folder, "train sentiment --run run");
    assert!(mentions(&screen, "positive"), "{screen}");
    let sentences = "
The movie was great!                      | positive
i did not like the food                   | negative
it wasn't boring                          | positive
nobody enjoyed this game                  | negative
the food was great and the staff was nice | positive
great food, great service                 | positive
not bad                                   | positive
";
    for cells in table(sentences) {
        let (text, class) = (cells[0], cells[1]);
        let predicted = typed(&folder, &format!("predict run --json --text \"{text}\"")).done();
        assert_eq!(predicted.stderr, "", "{text}");
        let predicted = json(&predicted.stdout);
        let found = (predicted["predicted"].as_str(), predicted["label"].as_str());
        assert_eq!(found, (Some(class), Some(class)), "{text}: {predicted}");
    }
    let explain = "predict run --text 'the food was not bad' --explain";
    let explained = printed(&folder, explain);
    assert!(mentions(&explained, "bad"), "{explained}");
}

/// Files, with `/` between lines; keys of `[data]`; a part of the message.
const FAULTS: &str = "
a,b/x,1/                         |                           | data.text
a,b/x,1/                         | , text = \"c\"             | data.text
text,kind/x,1/y,2/               |                           | label
text,kind/x,1/y,2/               | , label = \"sort\"         | kind
text,label/x,1/y,1/              |                           | label
text,label/x,1/y,1/z,2/          |                           | 2
text,label/x,1/y,1/z,odd/w,odd/  |                           | odd
text,label/x,1/y,2/z,1/w,2/      | , held_out = 4            | held_out
text,label/x,1/y,2/z,1/w,2/      | , words = { min_count = 0 } | min_count
text,label/x,1/y,2/z,1/w,2/      | , words = { stem = true } | stem
text,label/x,1/y,2/z,1/w,2/      | , vocab_size = 3          | vocab_size
";

#[test]
fn faults_of_texts_are_refused() {
    let folder = folder("words_refused");
    let refuses = |bytes: &[u8], more: &str, parts: &[&str]| {
        let config = format!(
            "data = {{ file = \"t.csv\"{more} }}\nmodel.d_model = 4\ntraining.epochs = 1\n"
        );
        fs::write(folder.join("t.csv"), bytes).unwrap();
        fs::write(folder.join("t.toml"), config).unwrap();
        refuses_typed(&folder, "train t.toml --run run", parts);
    };
    for cells in table(FAULTS) {
        let bytes = cells[0].replace('/', "\n");
        refuses(bytes.as_bytes(), cells[1], &cells[2..]);
    }
    refuses(b"text,label\nok,1\ncaf\xe9,2\n", "", &["3", "4"]);

    typed(&folder, "train quick --run ids --quiet").done();
    let contradictions = r#"
predict ids --text words
predict ids
predict ids --text a --tokens 1
train notebook --run x --set 'data.rule={kind="sentence",corpus="bank"}'
train bank --run x --set model.attention={}
"#;
    refuses_each(&folder, "", contradictions);
}
