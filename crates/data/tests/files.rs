//! Dataset files survive a round trip, and damaged ones are refused with a place.
#![allow(clippy::type_complexity)]

use std::io::Cursor;
use std::path::Path;

use crate::common::{anywhere, completed, config};
use headlight_data::files::{FileError, FileKeys, FitError, Format, Rows, SampleTable, tokens};
use headlight_data::{ClsPlace, ColumnNames, DatasetConfig, IGNORED, Splits};
use serde_json::json;

pub(crate) fn splits() -> Splits {
    let generated = json!({
        "seed": 3, "generator": "chacha", "samples": 40, "positive_rate": 0.5, "vocab_size": 9, "seq_len": 5, "held_out": 10,
        "rule": { "kind": "token-at-position", "token": 4, "position": 2 },
    });
    config(generated).generate().unwrap()
}

pub(crate) fn written(format: Format) -> Vec<u8> {
    crate::common::written(&splits(), &of_file(0), None, format)
}

/// The rows of bytes whose format the file name gives.
pub(crate) fn read_as(name: &str, bytes: impl AsRef<[u8]>) -> Result<Rows, FileError> {
    let format = Format::of(Path::new(name))?;
    SampleTable::read(Cursor::new(bytes), format, name)?.samples(&ColumnNames::default())
}

/// Lines of token ids.
pub(crate) fn read_lines(text: &str) -> Result<Rows, FileError> {
    SampleTable::read(Cursor::new(text), Format::Txt, "new.txt")?.lines(false)
}

/// The splits of a file, with what the file itself says.
pub(crate) fn own(name: &str, bytes: impl AsRef<[u8]>) -> Result<Splits, String> {
    let rows = read_as(name, bytes).map_err(|error| error.to_string())?;
    let (config, padding_token) = completed(&rows, FileKeys::default());
    let splits = rows.fit(&config, padding_token);
    splits.map_err(|error| error.to_string())
}

/// The keys of a config that says where `[CLS]` is.
pub(crate) fn with_cls(cls: ClsPlace) -> FileKeys {
    FileKeys {
        cls,
        ..FileKeys::default()
    }
}

pub(crate) fn of_file(held_out: usize) -> DatasetConfig {
    config(json!({
        "file": "data/config.csv", "vocab_size": 9, "seq_len": 5, "n_classes": 2, "held_out": held_out,
        "rule": { "kind": "token-at-position", "token": 4, "position": 2 },
    }))
}

#[test]
fn a_file_is_not_generated() {
    let error = of_file(0).generate().unwrap_err();
    assert_eq!(error.key, "file");
    assert!(error.message.contains("data/config.csv"), "{error}");
}

#[test]
fn splits_are_checked_against_a_config() {
    let file = "label,token_0,token_1,token_2\n1,0,5,4\n0,0,7,6\n";
    let rows = read_as("a.csv", file).unwrap();
    let fitting = DatasetConfig {
        seq_len: 2,
        rule: Some(anywhere(5)),
        ..of_file(0)
    };
    assert!(rows.fit(&fitting, None).is_ok());
    let changes: [(fn(&mut DatasetConfig), &[&str]); 4] = [
        (
            |config| config.vocab_size = 7,
            &["a.csv: line 3", "token 7", "data.vocab_size is 7"],
        ),
        (
            |config| config.seq_len = 3,
            &["a.csv: line 2", "2 tokens", "data.seq_len is 3"],
        ),
        (
            |config| config.cls = ClsPlace::Last,
            &["a.csv: line 2", "[CLS] = 0 first", "data.cls is \"last\""],
        ),
        (
            |config| config.rule = Some(anywhere(7)),
            &[
                "a.csv: line 2",
                "the rule (token 7 is at any position) gives",
            ],
        ),
    ];
    for (change, parts) in changes {
        let mut config = fitting.clone();
        change(&mut config);
        let error = rows.fit(&config, None).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{error}");
        }
    }
}

#[test]
fn a_config_that_does_not_fit_is_named_by_its_key() {
    let rows = read_as("a.csv", written(Format::Csv)).unwrap();
    let invalid = |config: &DatasetConfig| match rows.fit(config, None) {
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
        .map(|token| format!(r#"{{"label":{},"tokens":[0,{token},4,1,1,1]}}"#, token % 2))
        .collect();
    let file = read_as("unsplit.jsonl", lines.join("\n")).unwrap();
    let of_file = |held_out| DatasetConfig {
        rule: None,
        ..of_file(held_out)
    };
    let splits = file.fit(&of_file(3), None).unwrap();
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
    assert_eq!(file.fit(&of_file(7), None).unwrap().train.len(), 1);
    let error = file.fit(&of_file(8), None).unwrap_err();
    assert!(error.to_string().contains("8 of 8 samples"), "{error}");
}

/// Asserts that a file is refused with a message that names it and holds `part`.
pub(crate) fn refused(name: &str, bytes: impl AsRef<[u8]>, part: &str) {
    let error = own(name, bytes).unwrap_err();
    assert!(error.contains(part), "{name}: {error}");
    let names_file = error.starts_with(&format!("{name}: "));
    assert!(names_file || error.starts_with("`seq_len`"), "{error}");
}

/// The name of a file, its text, and a part of the message that refuses it. Lines are numbered as a text editor numbers them.
const BAD: &str = r#"
no_header.csv    | 1,0,3\n1,0,4\n                                      | line 1: the header
twice.csv        | label,token_0,label\n                               | line 1: the header names the column `label` twice
mistyped.csv     | label,token_2,tokne_1,token_0\n0,1,2,3\n            | line 1: the header names `token_2`, but not token_1
doubled.csv      | label,token_0,token_00\n0,1,2\n                     | line 1: the header names column token_0 twice
word.csv         | START train,0,0,three\n                             | line 3: `three` is not a token id
large.csv        | START train,0,0,99999999999999999999\n                             | line 3: `99999999999999999999` is not a token id
blank.csv        | START \n\ntrain,0,0,x\n                             | line 5: `x`
windows.csv      | label,token_0\r\n\r\n0,x\r\n                        | line 3: `x`
old.csv          | label,token_0\r\r0,x\r                              | line 3: `x`
no_end.csv       | START train,0,0,x                                   | line 3: `x`
quoted.csv       | a,label,token_0\n"\n\n",0,1\n"\n",0,x\n              | line 5: `x`
mark.csv         | \ufeffSTART train,0,0,x\n                           | line 3: `x`
wide.csv         | START train,1,1,3,4\n                               | line 3: the row has 5 cells
hole.csv         | START train,1,,3\n                                  | line 3: cell 3 is empty
no_tokens.csv    | START train,1,,\n                                   | line 3: the sample has no tokens
no_label.csv     | START train,,1,1\n                                  | line 3: the sample has no label
cls.csv          | START train,1,0,3\n                                 | line 3: the first token is [CLS]
no_cls.csv       | split,label,token_0,token_1\ntrain,0,0,3\ntrain,1,3,3\n | line 3: the first token is not [CLS]
zero.csv         | split,label,token_0,token_1\ntrain,0,1,3\ntrain,1,3,0\n | line 3: the sample has [CLS] = 0 last
inner.csv        | label,token_0,token_1,token_2\n0,1,1,1\n1,1,0,1\n   | line 3: token 0 is [CLS]
split.csv        | START testing,1,1,3\n                               | line 3: unknown split `testing`
half.csv         | START train,0.35,1,3\n                              | line 3: label 0.35 is not a class
negative.csv     | START train,0,1,-3\n                                | line 3: -3 
one_class.csv    | START val,1,1,3\n                                   | all training samples have the label 0
empty.csv        | split,label,token_0,token_1\n                       | no samples
nothing.csv      |                                                     | the file is empty
held_out.csv     | split,label,token_0\ntest,0,1\nval,1,1\n            | no training samples
open.csv         | label,token_0,note\n1,2,ok\n0,3,"oops\n1,4,a\n0,5,b\n | line 3: the quoted cell that begins here never ends
open_end.csv     | label,token_0,note\n1,2,ok\n0,"3                    | line 3: the quoted cell that begins here never ends
open_merged.csv  | label\tnote\ttoken_0\n0\t"a\t1\n1\tb"\t2\n               | line 2: the quoted cell that begins here ends in line 3
inside.csv       | label,token_0,note\n1,2,"one" two\n0,3,x\n           | line 2: the quoted cell that begins here ends in line 2 before
declared.csv     | sep=|\nlabel|token_0\n0|x\n                         | line 3: `x`
zeros.csv        | l\0a\0b\0                                            | it is UTF-16 text
open_header.csv  | label,"token_0\n1,2\n                               | line 1: the quoted cell that begins here never ends
key.jsonl        | \n{"label":0,"token":[0,1]}\n                       | line 2: the line has neither `text` nor `tokens`
labels.jsonl     | {"tokens":[1]}\n\n{"label":0,"tokens":[1]}\n        | line 1: the sample has no label
list.jsonl       | {"label":[],"tokens":[1]}\n                         | line 1: the label
half.jsonl       | {"label":0.5,"tokens":[1]}\n                        | line 1: label 0.5 is not a class
unlabelled.jsonl | {"tokens":[1]}\n                                    | no column `label`
middle.jsonl     | {"label":0,"tokens":[0,1,0,2]}\n{"label":1,"tokens":[0,1,0,2]} | line 1: token 0 is [CLS]
alone.jsonl      | {"label":0,"tokens":[0]}\n{"label":1,"tokens":[0]}  | seq_len is 0
none.jsonl       | {"label":0,"tokens":[]}                             | line 1: the sample has no tokens
huge.jsonl       | {"label":0,"tokens":[0,4294967296]}                 | line 1: 4294967296 
part.jsonl       | {"label":0,"tokens":[0,1.5]}                        | line 1: `tokens`, value 2: 1.5 is not a token id
number.jsonl     | {"label":0,"tokens":3}                              | line 1: `tokens` is a number, not a list
each.jsonl       | {"labels":"ab","tokens":[1,2]}                      | line 1: `labels` is a text, not a list
key_twice.jsonl  | {"label":0,"tokens":[1],"label":1}                  | line 1: the key `label` occurs twice
cut.jsonl        | {"label":0,                                         | line 1: column 11: not valid JSON
text.npz         | not a zip                                           | not an npz archive
text.parquet     |                                                     | use .npz, .csv or .jsonl
"#;

#[test]
fn bad_files_are_named_with_their_place() {
    for line in BAD.trim().lines() {
        let cells: Vec<&str> = line.split(" | ").map(str::trim).collect();
        let start = "split,label,token_0,token_1\ntrain,0,1,2\n";
        let signs = [
            ("START ", start),
            (r"\n", "\n"),
            (r"\r", "\r"),
            (r"\0", "\0"),
            (r"\t", "\t"),
            (r"\ufeff", "\u{feff}"),
        ];
        let text = signs.iter().fold(cells[1].to_owned(), |text, (sign, own)| {
            text.replace(sign, own)
        });
        refused(cells[0], text, cells[2]);
    }
    let latin = b"label,token_0\na,1\nna\xefve,2\n";
    refused("latin.csv", latin, "line 3: byte");
    for bytes in [b"\xff\xfel\0a\0", b"\xfe\xff\0l\0a"] {
        refused("utf16.csv", bytes, "it is UTF-16 text");
    }
    let many: Vec<String> = (0..65_600)
        .map(|label| format!("class {label},1"))
        .collect();
    let many = format!("label,token_0\n{}", many.join("\n"));
    refused("values.csv", many, "line 65538: ");
    let long = "x".repeat(1 << 20);
    let record = format!("label,token_0,note\n0,1,\"{long}\n{long}\"\n");
    refused("record.csv", record, "line 2: it is longer than 1 MiB");
    let line = format!("\n{{\"label\":0,\"note\":\"{long}\"}}\n");
    refused("line.jsonl", line, "line 2: it is longer than 1 MiB");
}

/// The classes that labels stand for, and their names.
#[test]
fn labels_are_classes_or_names() {
    let cases: [(&str, &[&str], &[u32]); 8] = [
        ("0 1 1", &[], &[0, 1, 1]),
        ("0.0 1.0 2.0", &[], &[0, 1, 2]),
        ("b a b", &["a", "b"], &[1, 0, 1]),
        ("True False True", &["False", "True"], &[1, 0, 1]),
        ("-1 1 -1", &["-1", "1"], &[0, 1, 0]),
        ("10 9 1", &["1", "9", "10"], &[2, 1, 0]),
        ("1 2 ?", &["1", "2", "?"], &[0, 1, 2]),
        ("z y x", &["x", "y", "z"], &[2, 1, 0]),
    ];
    for (labels, names, expected) in cases {
        let lines = labels.split(' ').map(|label| format!("{label},1\n"));
        let text = format!("label,token_0\n{}", lines.collect::<String>());
        let rows = read_as("labels.csv", text).unwrap();
        let (config, _) = completed(&rows, FileKeys::default());
        assert_eq!(config.classes, names, "{labels}");
        let distinct = expected.iter().max().map_or(0, |&last| last as usize + 1);
        assert_eq!(config.n_classes, distinct);
        let splits = rows.fit(&config, None).unwrap();
        assert_eq!(splits.train.labels(), expected, "{labels}");
    }
    let json = "{\"label\":true,\"tokens\":[1]}\n{\"label\":false,\"tokens\":[2]}\n";
    let rows = read_as("labels.jsonl", json).unwrap();
    let (config, _) = completed(&rows, FileKeys::default());
    assert_eq!(config.classes, ["false", "true"]);
}

#[test]
fn labels_that_contradict_the_config_are_refused() {
    let rows = read_as("a.csv", "label,token_0\n0,1\n3,1\n").unwrap();
    let (mut config, _) = completed(&rows, FileKeys::default());
    assert_eq!(config.classes, ["0", "3"]);
    let keys = FileKeys {
        n_classes: Some(4),
        ..FileKeys::default()
    };
    let (numbered, _) = completed(&rows, keys);
    assert_eq!(rows.fit(&numbered, None).unwrap().train.labels(), [0, 3]);
    let refused = |config: &DatasetConfig, part: &str| {
        let error = rows.fit(config, None).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    config.n_classes = 3;
    refused(&config, "n_classes is 3");
    config.classes.clear();
    refused(
        &config,
        "a.csv: line 3: label 3 is not a class; data.n_classes is 3",
    );
    // A number is not taken for a class where numbers are names.
    (config.n_classes, config.classes) = (2, ["1", "2"].map(str::to_owned).to_vec());
    refused(&config, "a.csv: line 2: label `0`");
    // Names for numbers.
    config.n_classes = 4;
    config.classes = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    assert_eq!(rows.fit(&config, None).unwrap().train.labels(), [0, 3]);
    for classes in [
        ["a", "a", "b", "c"],
        ["", "a", "b", "c"],
        ["\n", "a", "b", "c"],
    ] {
        config.classes = classes.map(str::to_owned).to_vec();
        let error = config.validate().unwrap_err();
        assert_eq!(error.key, "classes");
    }
}

#[test]
fn splits_have_the_names_that_people_use() {
    let splits = ["train", "held_out", "val", "validation", "test", "train"];
    let lines = splits.iter().enumerate().map(|(row, split)| {
        format!(
            "{{\"split\":\"{split}\",\"label\":{},\"tokens\":[{}]}}\n",
            row % 2,
            row + 1
        )
    });
    let splits = own("splits.jsonl", lines.collect::<String>()).unwrap();
    assert_eq!(splits.train.all_tokens(), [0, 1, 0, 6]);
    assert_eq!(splits.held_out.all_tokens(), [0, 2, 0, 3, 0, 4, 0, 5]);
}

#[test]
fn columns_have_any_order_and_other_columns_are_ignored() {
    let text = "id,token_10,Label,token_9,note\n1,3,1,2,\"a,b\"\n2,5,0,4,\n";
    let splits = own("columns.csv", text).unwrap();
    assert_eq!(splits.train.all_tokens(), [0, 2, 3, 0, 4, 5]);
    assert_eq!(splits.train.labels(), [1, 0]);
}

/// A quote inside a cell is text, and a quoted cell can hold line breaks and doubled quotes.
#[test]
fn quotes_that_are_closed_are_read() {
    for cell in [
        "5\" nail",
        "\"a \"\"b\"\"\"",
        "\"a\n\"",
        "\"\"",
        "a\"\"",
        "\"1\r\n\r\n2\n\"",
        // What the reader itself puts after a file.
        "\"a\n\u{4}\"",
        "\u{4}\"",
    ] {
        for end in ["", "\n", "\r\n"] {
            let text = format!("label,token_0,note\n1,2,{cell}\n0,3,{cell}{end}");
            let splits = own("quotes.csv", &text).unwrap();
            assert_eq!(splits.train.all_tokens(), [0, 2, 0, 3], "{text}");
        }
    }
}

/// The token that follows the last one is known where a text was cut.
#[test]
fn the_next_token_may_be_given() {
    let given = [(&[3_i64, 1, 2][..], "0", "train"), (&[1, 2], "0", "train")];
    let rows = tokens(given.into_iter(), "the samples").unwrap();
    let config = config(json!({
        "task": "next-token", "file": "f", "vocab_size": 5, "seq_len": 3, "n_classes": 5, "cls": "none", "held_out": 0,
    }));
    let labels = |rows: Rows| {
        let train = rows.fit(&config, Some(4)).unwrap().train;
        [0, 1].map(|sample| train.labels_of(sample).to_vec())
    };
    assert_eq!(
        labels(rows.followed_by(vec![2, 3])),
        [vec![1, 2, 2], vec![2, 3, IGNORED]]
    );
    let rows = tokens(given.into_iter(), "the samples").unwrap();
    assert_eq!(
        labels(rows),
        [vec![1, 2, IGNORED], vec![2, IGNORED, IGNORED]]
    );
}
