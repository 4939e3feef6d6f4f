//! Dataset files survive a round trip, and damaged ones are refused with a place.
#![allow(missing_docs, clippy::unwrap_used, clippy::type_complexity)]

use std::io::Cursor;
use std::path::Path;

use headlight_data::files::{FileError, FitError, Format, fit, read, write};
use headlight_data::{ClsPlace, Dataset, DatasetConfig, Generator, LabelRule, Source, Splits};
use headlight_npz::{NpzReader, NpzWriter};

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
        n_classes: 2,
        classes: Vec::new(),
        cls: ClsPlace::First,
        held_out: 10,
        rule: Some(rule()),
    };
    config.generate().unwrap()
}

fn written(format: Format) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&splits(), format, &mut bytes).unwrap();
    bytes
}

/// The splits of bytes whose format the file name gives.
fn read_as(name: &str, bytes: impl AsRef<[u8]>) -> Result<Splits, FileError> {
    read(Cursor::new(bytes), Format::of(Path::new(name))?, name)
}

fn of_file(held_out: usize) -> DatasetConfig {
    DatasetConfig {
        seed: 0,
        source: Source::File("data/config.csv".into()),
        vocab_size: 9,
        seq_len: 5,
        n_classes: 2,
        classes: Vec::new(),
        cls: ClsPlace::First,
        held_out,
        rule: Some(rule()),
    }
}

#[test]
fn each_format_comes_back() {
    for (name, format) in [
        ("round.npz", Format::Npz),
        ("round.csv", Format::Csv),
        ("round.jsonl", Format::Jsonl),
    ] {
        assert_eq!(read_as(name, written(format)).unwrap(), splits(), "{name}");
    }
}

#[test]
fn a_file_is_not_generated() {
    let error = of_file(0).generate().unwrap_err();
    assert_eq!(error.key, "file");
    assert!(error.message.contains("data/config.csv"), "{error}");
}

#[test]
fn splits_are_checked_against_a_config() {
    assert_eq!(fit(&of_file(0), splits(), "a.csv").unwrap(), splits());
    let changes: [(fn(&mut DatasetConfig), &[&str]); 4] = [
        (
            |config| config.vocab_size = 7,
            &["a.csv: ", "token 7", "data.vocab_size is 7"],
        ),
        (
            |config| config.seq_len = 6,
            &["a.csv: ", "5 tokens", "data.seq_len is 6"],
        ),
        (
            |config| config.cls = ClsPlace::Last,
            &["a.csv: ", "[CLS] first", "data.cls is \"last\""],
        ),
        (
            |config| config.rule = Some(LabelRule::TokenAnywhere { token: 1 }),
            &["a.csv: ", "data.rule (token 1 is at any position) gives"],
        ),
    ];
    for (change, parts) in changes {
        let mut config = of_file(0);
        change(&mut config);
        let error = fit(&config, splits(), "a.csv").unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{error}");
        }
    }
}

#[test]
fn a_config_that_does_not_fit_is_named_by_its_key() {
    let invalid = |config: &DatasetConfig| match fit(config, splits(), "a.csv") {
        Err(FitError::Config(invalid)) => invalid,
        other => panic!("{other:?}"),
    };
    let error = invalid(&of_file(5));
    assert_eq!(error.key, "held_out");
    assert!(error.message.contains(" 10 "), "{error}");
    let mut config = of_file(0);
    config.seq_len = 0;
    assert_eq!(invalid(&config).key, "seq_len");
}

#[test]
fn held_out_samples_are_split_off_a_file_that_names_none() {
    let lines: Vec<String> = (1..=8)
        .map(|token| format!(r#"{{"label":{},"tokens":[0,{token},4,1,1,1]}}"#, 1))
        .collect();
    let file = read_as("unsplit.jsonl", lines.join("\n")).unwrap();
    let splits = fit(&of_file(3), file.clone(), "unsplit.jsonl").unwrap();
    assert_eq!((splits.train.len(), splits.held_out.len()), (5, 3));
    // Which samples are held out follows from the seed. Recorded from this code.
    let held_out: Vec<u32> = (0..3).map(|i| splits.held_out.tokens(i)[1]).collect();
    assert_eq!(held_out, [7, 3, 4]);
    let mut all: Vec<u32> = [&splits.train, &splits.held_out]
        .iter()
        .flat_map(|part| (0..part.len()).map(|sample| part.tokens(sample)[1]))
        .collect();
    all.sort_unstable();
    assert_eq!(all, (1..=8).collect::<Vec<_>>());
    assert_eq!(fit(&of_file(7), file.clone(), "").unwrap().train.len(), 1);
    let error = fit(&of_file(8), file, "unsplit.jsonl").unwrap_err();
    assert!(
        error.to_string().contains("8 held-out samples of 8"),
        "{error}"
    );
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
            format!("{header}train,256,0,3\n"),
            "line 2: label 256 is not a class",
        ),
        (
            "cls.csv",
            format!("{header}train,0,7,3\n"),
            "line 2: all samples must start with [CLS] = 0",
        ),
        (
            "split.csv",
            format!("{header}test,0,0,3\n"),
            "line 2: split `test` is neither",
        ),
        (
            "negative.csv",
            format!("{header}train,0,0,-3\n"),
            "line 2: -3 ",
        ),
        ("empty.csv", header.to_owned(), "no training samples"),
        (
            "ragged.jsonl",
            "{\"label\":0,\"tokens\":[0,1]}\n{\"label\":0,\"tokens\":[0]}\n".to_owned(),
            "line 2: the sample has 1 tokens, but the first one has 2",
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
        let error = read_as(name, text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{name}: ")), "{error}");
        assert!(error.contains(part), "{name}: {error}");
    }
}

/// An archive with these arrays, by name: `tokens` as `[rows, positions]`, and its labels.
fn archive(tokens: (&[usize], &[i64]), labels: (&[usize], &[f32])) -> Vec<u8> {
    let mut npz = NpzWriter::new();
    npz.array("tokens", tokens.0, tokens.1).unwrap();
    npz.array("labels", labels.0, labels.1).unwrap();
    npz.finish().unwrap()
}

#[test]
fn bad_arrays_are_named() {
    let cases = [
        (
            archive((&[2], &[0, 1]), (&[1], &[1.0])),
            &["`tokens`", "[2]"][..],
        ),
        (
            archive((&[2, 2], &[0, 1, 0, 2]), (&[1], &[1.0])),
            &["`tokens`", "2 samples", "`labels` has 1"],
        ),
        (
            archive((&[1, 2], &[0, 1]), (&[1], &[0.5])),
            &["`tokens`, sample 0", "label 0.5 "],
        ),
        (
            archive((&[1, 0], &[]), (&[1], &[1.0])),
            &["`tokens`, sample 0"],
        ),
        (
            archive((&[2, 2], &[0, 1, 2, 0]), (&[2], &[1.0, 0.0])),
            &["`tokens`, sample 1", "[CLS] = 0"],
        ),
    ];
    for (bytes, parts) in cases {
        let error = read_as("bad.npz", bytes).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{error}");
        }
    }
    let empty = read_as("empty.npz", archive((&[0, 0], &[]), (&[0], &[]))).unwrap_err();
    assert!(!empty.message.contains("`tokens`"), "{empty}");
}

#[test]
fn archives_need_no_held_out_arrays_and_take_whole_labels() {
    let bytes = archive((&[2, 3], &[0, 1, 2, 0, 3, 4]), (&[2], &[1.0, 0.0]));
    let floats = read_as("floats.npz", bytes).unwrap();
    assert_eq!((floats.train.len(), floats.held_out.len()), (2, 0));
    assert_eq!(floats.train.labels(), [1, 0]);
    let mut npz = NpzWriter::new();
    npz.array("tokens", &[2, 3], &[0_i64, 1, 2, 0, 3, 4])
        .unwrap();
    npz.array("labels", &[2], &[1_i64, 0]).unwrap();
    let whole = read_as("whole.npz", npz.finish().unwrap());
    assert_eq!(whole, Ok(floats));
}

#[test]
fn archives_have_the_arrays_of_the_documentation() {
    let mut npz = NpzReader::new(Cursor::new(written(Format::Npz))).unwrap();
    let expected = splits();
    for (name, part) in [("", &expected.train), ("held_out_", &expected.held_out)] {
        let tokens = npz.integers(&format!("{name}tokens")).unwrap();
        assert_eq!(tokens.shape, [part.len(), 6]);
        assert_eq!(tokens.values[1], i64::from(part.tokens(0)[1]));
        let labels = npz.floats(&format!("{name}labels")).unwrap();
        assert_eq!(labels.shape, [part.len()]);
    }
}

#[test]
fn cls_comes_first_or_last() {
    let mut config = of_file(0);
    config.cls = ClsPlace::Last;
    config.rule = None;
    let rows = "split,label,a,b,c,d,e,f\ntrain,1,4,4,1,1,1,0\nheld_out,0,1,2,3,4,5,0\n";
    let file = read_as("last.csv", rows).unwrap();
    assert_eq!(file.train.tokens(0), [4, 4, 1, 1, 1, 0]);
    assert_eq!((file.train.len(), file.held_out.len()), (1, 1));
    assert_eq!(fit(&config, file.clone(), ""), Ok(file.clone()));
    // The rule reads a wrong label off the tokens.
    config.rule = Some(LabelRule::TokenAnywhere { token: 5 });
    let error = fit(&config, file.clone(), "last.csv").unwrap_err();
    assert!(error.to_string().contains("last.csv: sample 0"), "{error}");
    config.cls = ClsPlace::First;
    assert!(fit(&config, file, "").is_err());
}

#[test]
fn labels_are_classes_of_the_config() {
    let mut config = of_file(0);
    (config.rule, config.n_classes) = (None, 4);
    let rows = "split,label,a,b,c,d,e,f\ntrain,3,0,4,4,1,1,1\ntrain,0,0,1,2,3,4,5\n";
    let file = read_as("classes.csv", rows).unwrap();
    assert_eq!(file.train.labels(), [3, 0]);
    assert_eq!(file.train.class_counts(4), [1, 0, 0, 1]);
    for format in [Format::Npz, Format::Csv, Format::Jsonl] {
        let mut bytes = Vec::new();
        write(&file, format, &mut bytes).unwrap();
        let back = read(Cursor::new(bytes), format, "").unwrap();
        assert_eq!(fit(&config, back, ""), Ok(file.clone()));
    }
    config.n_classes = 3;
    let error = fit(&config, file.clone(), "classes.csv").unwrap_err();
    assert!(error.to_string().contains("n_classes is 3"), "{error}");
    // The sample has token 1 three times.
    (config.rule, config.n_classes) = (Some(LabelRule::Count { token: 1 }), 3);
    let splits = Splits {
        train: of_class(2),
        held_out: Dataset::empty(5),
    };
    assert!(fit(&config, splits, "").is_ok());
    config.n_classes = 4;
    let splits = Splits {
        train: of_class(2),
        held_out: Dataset::empty(5),
    };
    assert!(fit(&config, splits, "").is_err());
}

fn of_class(label: u8) -> Dataset {
    let mut dataset = Dataset::empty(5);
    dataset.push(&[0, 4, 4, 1, 1, 1], label);
    dataset
}

#[test]
fn samples_of_other_shapes_are_refused() {
    for (name, rows) in [
        ("middle.jsonl", r#"{"label":0,"tokens":[0,1,0,2]}"#),
        ("no_cls.jsonl", r#"{"label":0,"tokens":[1,2,3]}"#),
        ("alone.jsonl", r#"{"label":0,"tokens":[0]}"#),
        ("none.jsonl", r#"{"label":0,"tokens":[]}"#),
        ("huge.jsonl", r#"{"label":0,"tokens":[0,4294967296]}"#),
    ] {
        let error = read_as(name, rows).unwrap_err();
        assert!(error.message.starts_with("line 1: "), "{error}");
    }
    let held_out = r#"{"split":"held_out","label":0,"tokens":[0,1]}"#;
    assert!(read_as("held_out.jsonl", held_out).is_err());
    assert!(read_as("header.csv", "split,token_0\ntrain,0\n").is_err());
    let blank = format!("\n{}\n\n", held_out.replace("held_out", "train"));
    assert_eq!(read_as("blank.jsonl", blank).unwrap().train.len(), 1);
}

#[test]
fn truncated_archives_are_refused() {
    let whole = written(Format::Npz);
    for keep in (0..whole.len()).step_by(7) {
        let error = read_as("cut.npz", &whole[..keep]).unwrap_err().to_string();
        assert!(error.contains("cut.npz: "), "{error}");
    }
}
