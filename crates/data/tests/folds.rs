//! The folds of a file.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;

use crate::common::read;
use headlight_data::files::{Format, Rows};
use headlight_data::{ColumnNames, Dataset, DatasetConfig, Fold, Source, Splits};

/// 23 samples, each another number; every third has label 1, and the rest label 0.
fn rows() -> Rows {
    let rows = (1..=23).map(|number| format!("{},{number}\n", u8::from(number % 3 == 0)));
    let text = "label,token_0\n".to_owned() + &rows.collect::<String>();
    let columns = ColumnNames::default();
    read(
        std::io::Cursor::new(text),
        Format::Csv,
        &columns,
        "file".to_owned(),
    )
    .unwrap()
}

fn config(seed: u64, fold: &str) -> DatasetConfig {
    DatasetConfig {
        task: headlight_data::Task::Classification,
        seed,
        source: Source::File("file.csv".into()),
        columns: ColumnNames::default(),
        words: None,
        vocab_size: 24,
        seq_len: 1,
        n_classes: 2,
        classes: Vec::new(),
        cls: headlight_data::ClsPlace::First,
        held_out: 0,
        fold: Some(fold.parse::<Fold>().unwrap()),
        label_noise: 0.0,
        rule: None,
    }
}

fn samples(dataset: &Dataset) -> BTreeMap<u32, u32> {
    let sample = |index| (dataset.tokens(index)[1], dataset.label(index));
    (0..dataset.len()).map(sample).collect()
}

#[test]
fn every_sample_is_held_out_once_and_each_fold_has_its_share_of_each_class() {
    let split = |fold: &str| -> Splits { rows().fit(&config(7, fold), None).unwrap() };
    let mut all = BTreeMap::new();
    for index in 1..=5 {
        let Splits {
            train, held_out, ..
        } = split(&format!("{index}/5"));
        let (train, held_out) = (samples(&train), samples(&held_out));
        assert_eq!(train.len() + held_out.len(), 23);
        assert!(train.keys().all(|sample| !held_out.contains_key(sample)));
        // 7 of 23 samples have label 1, so a fold has one or two.
        let positives = held_out.values().filter(|label| **label == 1).count();
        assert!((1..=2).contains(&positives) && (4..=5).contains(&held_out.len()));
        all.extend(held_out);
    }
    assert_eq!(all.len(), 23);
    let held_out = |seed| samples(&rows().fit(&config(seed, "1/5"), None).unwrap().held_out);
    assert_eq!(held_out(7), held_out(7));
    assert_ne!(held_out(7), held_out(8));
}

#[test]
fn folds_that_cannot_be_are_refused() {
    for wrong in ["0/5", "6/5", "1/1", "1", "a/b", "1/1001"] {
        assert!(
            wrong.parse::<Fold>().unwrap_err().contains("K/N"),
            "{wrong}"
        );
    }
    let refused = |config: &DatasetConfig| rows().fit(config, None).unwrap_err().to_string();
    assert!(refused(&config(7, "1/24")).contains("23 samples"));
    let both = DatasetConfig {
        held_out: 3,
        ..config(7, "1/5")
    };
    assert!(refused(&both).contains("held_out"));
}
