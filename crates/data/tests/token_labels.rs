//! Files whose samples have a label per token, or whose labels are the next tokens.

use crate::common::{read, written};
use headlight_data::files::{DatasetToWrite, FileKeys, Format, Rows, write};
use headlight_data::{DatasetConfig, IGNORED, Task};
use headlight_npz::NpzWriter;
use serde_json::json;

const NO: u32 = IGNORED;

fn rows(text: &str, format: Format) -> Result<Rows, String> {
    read(text, format).map_err(|error| error.message)
}

fn of_file(rows: &Rows, task: Task, changes: &serde_json::Value) -> DatasetConfig {
    let keys = FileKeys {
        task,
        ..serde_json::from_value(changes.clone()).unwrap()
    };
    let keys = rows.complete(keys);
    let all = json!({"task": task.name(), "file": "f", "vocab_size": keys.vocab_size, "seq_len": keys.seq_len,
        "n_classes": keys.n_classes, "classes": keys.classes.unwrap_or_default()});
    let mut config = crate::common::parsed(all, changes).unwrap();
    config.words = keys.words;
    config
}

const TAGGED: &str = r#"{"tokens": [3, 1, 2], "labels": ["N", null, "V"]}
{"tokens": [1, 2], "labels": ["V", "V"], "split": "held_out"}
{"tokens": [2, 1], "labels": [null, "N"]}
"#;

#[test]
fn labels_of_tokens_are_read_and_written() {
    let own = rows(TAGGED, Format::Jsonl).unwrap();
    let config = of_file(&own, Task::TokenClassification, &json!({}));
    assert_eq!(config.classes, ["N", "V"]);
    let splits = own.fit(&config, Some(4)).unwrap();
    assert_eq!(splits.train.tokens(0), [0, 3, 1, 2]);
    assert_eq!(splits.train.labels_of(0), [NO, 0, NO, 1]);
    assert_eq!(splits.train.labels_of(1), [NO, NO, 0, NO]);
    assert_eq!(splits.held_out.labels_of(0), [NO, 1, 1, NO]);
    assert_eq!(splits.train.class_counts(2), [2, 1]);
    let last = of_file(&own, Task::TokenClassification, &json!({"cls": "last"}));
    let at_end = own.fit(&last, Some(4)).unwrap();
    assert_eq!(at_end.train.labels_of(0), [0, NO, 1, NO]);
    for (config, splits) in [(&config, &splits), (&last, &at_end)] {
        for format in [Format::Jsonl, Format::Npz] {
            let again = read(written(splits, config, Some(4), format), format).unwrap();
            let again = again.fit(config, Some(4)).unwrap();
            assert_eq!(
                (&again.train, &again.held_out),
                (&splits.train, &splits.held_out)
            );
        }
        let contents = DatasetToWrite {
            splits,
            config,
            padding_token: Some(4),
            rows: None,
        };
        assert!(write(contents, Format::Csv, Vec::new()).is_err());
    }
}

#[test]
fn labels_that_do_not_fit_are_refused() {
    let few = r#"{"tokens": [1, 2], "labels": [0]}"#;
    let message = rows(few, Format::Jsonl).unwrap_err();
    assert!(message.contains("2 tokens and 1 labels"), "{message}");
    let own = rows(TAGGED, Format::Jsonl).unwrap();
    let refuse = |rows: &Rows, task: Task, part: &str| {
        let config = of_file(rows, task, &json!({"n_classes": 2}));
        let message = rows.fit(&config, Some(4)).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    };
    refuse(&own, Task::Classification, "data.task");
    // Before, between or after others, a row without labels is named, and predictions still read it.
    let labelled =
        "{\"tokens\": [1, 2], \"labels\": [0, 1]}\n{\"tokens\": [2, 1], \"labels\": [1, -100]}\n";
    let bare = [
        "{\"tokens\": [2, 2]}\n",
        "{\"tokens\": [2, 2], \"label\": 1}\n",
    ];
    for (text, line) in [
        (format!("{}{labelled}", bare[0]), "line 1"),
        (
            labelled.replacen('\n', &format!("\n{}", bare[1]), 1),
            "line 2",
        ),
        (format!("{labelled}{}", bare[0]), "line 3"),
    ] {
        let own = rows(&text, Format::Jsonl).unwrap();
        refuse(&own, Task::TokenClassification, line);
        let config = of_file(&own, Task::TokenClassification, &json!({}));
        assert_eq!(config.n_classes, 2, "-100 counts nowhere");
        let dataset = own.dataset(&config, Some(4)).unwrap();
        assert_eq!(dataset.class_counts(2), [1, 2]);
    }
    // [CLS] and padding have no label that counts.
    for (text, value) in [
        ("{\"tokens\": [1, 2, 4], \"labels\": [0, 1, 1]}", "value 3"),
        ("{\"tokens\": [4, 2, 1], \"labels\": [0, 1, 1]}", "value 1"),
        ("{\"tokens\": [0, 2, 1], \"labels\": [0, 1, 1]}", "value 1"),
    ] {
        let own = rows(text, Format::Jsonl).unwrap();
        refuse(&own, Task::TokenClassification, value);
    }
    // Before padding, token 0 has its own label; after it, 0 is [CLS].
    for (tokens, labels, own) in [
        ([3, 2, 0, 9], [1, 0, 1, -100], vec![1, 0, 1]),
        ([3, 2, 9, 0], [1, 0, -100, -100], vec![1, 0, NO]),
    ] {
        let mut npz = NpzWriter::new();
        npz.array("tokens", &[1, 4], &tokens).unwrap();
        npz.array("labels", &[1, 4], &labels).unwrap();
        npz.array("padding_token", &[], &[9_i64]).unwrap();
        let all = read(npz.finish().unwrap(), Format::Npz).unwrap();
        let cls = if tokens[3] == 0 { "last" } else { "none" };
        let config = of_file(&all, Task::TokenClassification, &json!({ "cls": cls }));
        let dataset = all.dataset(&config, Some(9)).unwrap();
        assert_eq!(dataset.labels_of(0)[..3], own);
    }
    let plain = rows(
        "{\"tokens\": [1, 2], \"label\": 0}\n{\"tokens\": [2, 2], \"label\": 1}",
        Format::Jsonl,
    )
    .unwrap();
    refuse(&plain, Task::TokenClassification, "labels");
    let one = rows(r#"{"tokens": [1, 2], "labels": [0, 0]}"#, Format::Jsonl).unwrap();
    refuse(&one, Task::TokenClassification, "at least two classes");
    let none = rows(
        r#"{"tokens": [1, 2], "labels": [null, null]}"#,
        Format::Jsonl,
    )
    .unwrap();
    refuse(&none, Task::TokenClassification, "null");
    let text = rows(
        "{\"text\": \"a b\", \"label\": 0}\n{\"tokens\": [2, 2], \"label\": 1}",
        Format::Jsonl,
    );
    assert!(text.unwrap_err().contains("line 2"));
}

#[test]
fn the_next_token_follows_in_texts_and_tokens() {
    let own = rows("ab\n\nba b\nabab\n", Format::Txt).unwrap();
    assert_eq!(own.len(), 3);
    let words = json!({"level": "character", "lowercase": true, "min_count": 1, "max_words": 99, "vocabulary": []});
    let changes = json!({"words": words, "held_out": 0});
    let config = of_file(&own, Task::NextToken, &changes);
    let vocabulary = &config.words.as_ref().unwrap().vocabulary;
    assert_eq!(vocabulary, &["b", "a", " "]);
    assert_eq!((config.seq_len, config.n_classes), (4, 6));
    let splits = own.fit(&config, Some(1)).unwrap();
    // [CLS] ends a text, as it starts it.
    assert_eq!(splits.train.tokens(0), [0, 4, 3, 1, 1]);
    assert_eq!(splits.train.labels_of(0), [4, 3, 0, NO, NO]);
    assert_eq!(splits.train.labels_of(2), [4, 3, 4, 3, 0]);
    assert_eq!(
        config.words.as_ref().unwrap().join(splits.train.tokens(1)),
        "ba b"
    );
    // What is cut is followed by what was cut.
    let short = of_file(
        &own,
        Task::NextToken,
        &json!({"words": words, "held_out": 0, "seq_len": 2}),
    );
    let cut = own.fit(&short, Some(1)).unwrap();
    assert_eq!(cut.train.tokens(2), [0, 4, 3]);
    assert_eq!(cut.train.labels_of(2), [4, 3, 4]);

    let ids = "{\"tokens\": [3, 1, 2]}\n{\"tokens\": [1, 2]}\n";
    let ids = rows(ids, Format::Jsonl).unwrap();
    for (cls, expected) in [("first", vec![3, 1, 2, NO]), ("none", vec![1, 2, NO])] {
        let config = of_file(&ids, Task::NextToken, &json!({"cls": cls, "held_out": 0}));
        let splits = ids.fit(&config, Some(4)).unwrap();
        assert_eq!(splits.train.labels_of(0), expected);
        let shorter = splits.train.labels_of(1);
        assert_eq!(shorter[shorter.len() - 2..], [NO, NO]);
    }
    let config = of_file(&ids, Task::NextToken, &json!({"held_out": 0}));
    let splits = ids.fit(&config, Some(4)).unwrap();
    let bytes = written(&splits, &config, Some(4), Format::Jsonl);
    assert!(!String::from_utf8(bytes).unwrap().contains("label"));
}
