//! Samples that a trained model predicts or is judged on: in their order, with or without labels.

use crate::common::{anywhere, read};
use crate::files::{of_file, read_as, read_lines, splits, written};
use headlight_data::DatasetConfig;
use headlight_data::files::{Format, tokens};

#[test]
fn some_labels_may_be_missing_for_a_model() {
    let config = DatasetConfig {
        seq_len: 1,
        rule: None,
        ..of_file(0)
    };
    for (name, text) in [
        ("some.csv", "label,token_0\n1,2\n,3\n"),
        (
            "some.jsonl",
            "{\"label\":1,\"tokens\":[2]}\n{\"label\":null,\"tokens\":[3]}\n",
        ),
    ] {
        let rows = read_as(name, text).unwrap();
        assert!(rows.missing_labels(&config, "").is_some());
        assert_eq!(
            rows.dataset(&config, None).unwrap().all_tokens(),
            [0, 2, 0, 3]
        );
        assert!(rows.fit(&config, None).is_err());
    }
}

/// For predictions: in the file's order, labelled or not, padded for the model.
#[test]
fn samples_for_a_model_keep_their_order_and_need_no_labels() {
    let config = DatasetConfig {
        seq_len: 3,
        rule: None,
        ..of_file(0)
    };
    let text = "split,token_0,token_1\ntest,1,2\ntrain,3,\ntest,4,5\n";
    let rows = read_as("new.csv", text).unwrap();
    assert!(rows.missing_labels(&config, "").is_some());
    let expected = [0, 1, 2, 8, 0, 3, 8, 8, 0, 4, 5, 8];
    assert_eq!(
        rows.dataset(&config, Some(8)).unwrap().all_tokens(),
        expected
    );
    assert!(rows.dataset(&config, None).is_err());
    let lines = read_lines("1 2\n\n3\n4, 5").unwrap();
    assert_eq!(
        lines.dataset(&config, Some(8)).unwrap().all_tokens(),
        expected
    );
    let ruled = DatasetConfig {
        rule: Some(anywhere(3)),
        ..config.clone()
    };
    assert_eq!(lines.dataset(&ruled, Some(8)).unwrap().labels(), [0, 1, 0]);
    for (text, part) in [
        ("1 2\n\n1 x\n", "line 3: `x`"),
        ("1 2\n\n1 2 3 4\n", "line 3: the sample has 4 tokens"),
        ("1 2\n0 9\n", "line 2: "),
        ("1 9\n", "line 1: token 9"),
        ("0\n", "line 1: the sample has 0 tokens"),
        ("\n", "no samples"),
    ] {
        let dataset = read_lines(text).and_then(|rows| rows.dataset(&config, Some(8)));
        let error = dataset.unwrap_err().to_string();
        assert!(
            error.starts_with("new.txt: ") && error.contains(part),
            "{error}"
        );
    }
}

#[test]
fn listed_samples_are_those_of_a_csv_file() {
    let csv = written(Format::Csv);
    let text = String::from_utf8(csv.clone()).unwrap();
    let samples: Vec<(Vec<i64>, &str, &str)> = text
        .lines()
        .skip(1)
        .map(|line| {
            let mut cells = line.split(',');
            let (split, label) = (cells.next().unwrap(), cells.next().unwrap());
            let tokens = cells.map(|cell| cell.parse().unwrap());
            (tokens.collect(), label, split)
        })
        .collect();
    let list = |samples: &[(Vec<i64>, &'static str, &'static str)]| {
        let samples = samples.iter();
        tokens(
            samples.map(|(tokens, label, split)| (&tokens[..], *label, *split)),
            "a list",
        )
    };
    let given = samples
        .iter()
        .map(|(tokens, label, split)| (&tokens[..], *label, *split));
    let found = tokens(given, "a list").unwrap().fit(&of_file(0), None);
    let file = read(csv, Format::Csv).unwrap();
    assert_eq!(found, file.fit(&of_file(0), None));
    assert_eq!(found.unwrap(), splits());
    for (samples, message) in [
        (&[][..], "a list: it holds no samples"),
        (
            &[(vec![1], "0", "train"), (vec![1], "", "train")],
            "a list: line 2: the label is empty",
        ),
        (
            &[(vec![], "0", "train")],
            "a list: line 1: the sample has no tokens",
        ),
        (
            &[(vec![-1], "0", "train")],
            "a list: line 1: -1 is not a token id; ids are whole numbers from 0 to 268435455",
        ),
    ] {
        assert_eq!(list(samples).unwrap_err().to_string(), message);
    }
    let error = list(&[(vec![1], "0", "rest")]).unwrap_err().to_string();
    assert!(
        error.starts_with("a list: line 1: unknown split `rest`"),
        "{error}"
    );
}
