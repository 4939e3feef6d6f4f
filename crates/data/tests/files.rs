//! Dataset files survive a round trip, and damaged ones are refused with a place.
#![allow(missing_docs, clippy::unwrap_used, clippy::type_complexity)]

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use headlight_data::files::{Format, read, write};
use headlight_data::{ClsPlace, DatasetConfig, Generator, LabelRule, Source, Splits};

fn rule() -> LabelRule {
    LabelRule::TokenAtPosition {
        token: 4,
        position: 2,
    }
}

fn splits() -> Splits {
    let config = DatasetConfig {
        seed: 3,
        source: Source::Generated {
            generator: Generator::Chacha,
            samples: 40,
            positive_rate: Some(0.5),
        },
        vocab_size: 9,
        seq_len: 5,
        cls: ClsPlace::First,
        held_out: 10,
        rule: Some(rule()),
    };
    config.splits().unwrap()
}

/// A path in a folder of this test's own.
fn path(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("files");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

fn written(name: &str) -> PathBuf {
    let path = path(name);
    let mut bytes = Cursor::new(Vec::new());
    write(&splits(), Format::of(&path).unwrap(), &mut bytes).unwrap();
    fs::write(&path, bytes.into_inner()).unwrap();
    path
}

fn from_file(path: PathBuf, held_out: usize) -> DatasetConfig {
    DatasetConfig {
        seed: 0,
        source: Source::File(path),
        vocab_size: 9,
        seq_len: 5,
        cls: ClsPlace::First,
        held_out,
        rule: Some(rule()),
    }
}

#[test]
fn each_format_comes_back() {
    for name in ["round.npz", "round.csv", "round.jsonl"] {
        assert_eq!(read(&written(name)).unwrap(), splits(), "{name}");
    }
}

#[test]
fn a_config_reads_a_file_and_checks_it() {
    let path = written("config.csv");
    assert_eq!(from_file(path.clone(), 0).splits().unwrap(), splits());
    let changes: [(fn(&mut DatasetConfig), &str); 4] = [
        (|config| config.vocab_size = 5, "data.vocab_size is 5"),
        (|config| config.seq_len = 6, "data.seq_len is 6"),
        (
            |config| config.rule = Some(LabelRule::TokenAnywhere { token: 1 }),
            "but data.rule (token 1 stands anywhere) gives",
        ),
        (
            |config| config.held_out = 5,
            "names its 10 held-out samples itself",
        ),
    ];
    for (change, part) in changes {
        let mut config = from_file(path.clone(), 0);
        change(&mut config);
        let error = config.splits().unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn held_out_samples_are_split_off_a_file_that_names_none() {
    let path = path("unsplit.jsonl");
    let lines: Vec<String> = (1..=8)
        .map(|token| format!(r#"{{"label":{},"tokens":[0,{token},4,1,1,1]}}"#, 1))
        .collect();
    fs::write(&path, lines.join("\n")).unwrap();
    let splits = from_file(path.clone(), 3).splits().unwrap();
    assert_eq!((splits.train.len(), splits.held_out.len()), (5, 3));
    let mut all: Vec<u32> = [&splits.train, &splits.held_out]
        .iter()
        .flat_map(|part| (0..part.len()).map(|sample| part.tokens(sample)[1]))
        .collect();
    all.sort_unstable();
    assert_eq!(all, (1..=8).collect::<Vec<_>>());
    let error = from_file(path, 8).splits().unwrap_err().to_string();
    assert!(error.contains("leave none to train on"), "{error}");
}

#[test]
fn bad_rows_are_named_with_their_place() {
    let header = "split,label,token_0,token_1\n";
    let cases = [
        (
            "no_header.csv",
            "1,0,3\n".to_owned(),
            "line 1: the header must read",
        ),
        (
            "word.csv",
            format!("{header}train,0,0,three\n"),
            "line 2: `three` is not a whole number",
        ),
        (
            "label.csv",
            format!("{header}train,2,0,3\n"),
            "line 2: label 2 is neither 0 nor 1",
        ),
        (
            "cls.csv",
            format!("{header}train,0,7,3\n"),
            "line 2: a sample starts with [CLS] = 0",
        ),
        (
            "split.csv",
            format!("{header}test,0,0,3\n"),
            "line 2: split `test` is neither",
        ),
        (
            "negative.csv",
            format!("{header}train,0,0,-3\n"),
            "line 2: -3 is no token id",
        ),
        ("empty.csv", header.to_owned(), "no training samples"),
        (
            "ragged.jsonl",
            "{\"label\":0,\"tokens\":[0,1]}\n{\"label\":0,\"tokens\":[0]}\n".to_owned(),
            "line 2: 1 tokens, where the first sample has 2",
        ),
        (
            "key.jsonl",
            "{\"label\":0,\"token\":[0,1]}\n".to_owned(),
            "line 1: unknown field `token`",
        ),
        ("text.npz", "not a zip".to_owned(), "not an npz archive"),
        ("text.parquet", String::new(), "use .npz, .csv or .jsonl"),
    ];
    for (name, text, part) in cases {
        let path = path(name);
        fs::write(&path, text).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains(part), "{name}: {error}");
    }
}

#[test]
fn truncated_archives_are_refused() {
    let whole = fs::read(written("whole.npz")).unwrap();
    for keep in (0..whole.len()).step_by(7) {
        let path = path("cut.npz");
        fs::write(&path, &whole[..keep]).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("cut.npz: "), "{error}");
    }
}
