//! The folds of a file.

use std::collections::BTreeMap;

use crate::common::read;
use headlight_data::files::{Format, Rows};
use headlight_data::{Dataset, DatasetConfig, Fold, Splits};
use serde_json::json;

/// 23 samples, each another number; every third has label 1, and the rest label 0.
fn rows() -> Rows {
    let rows = (1..=23).map(|number| format!("{},{number}\n", u8::from(number % 3 == 0)));
    let text = "label,token_0\n".to_owned() + &rows.collect::<String>();
    read(text, Format::Csv).unwrap()
}

fn config(seed: u64, fold: &str) -> DatasetConfig {
    crate::common::config(json!({
        "seed": seed, "file": "file.csv", "vocab_size": 24, "seq_len": 1, "n_classes": 2, "fold": fold,
    }))
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
            Fold::try_from(wrong.to_owned())
                .unwrap_err()
                .contains("K/N"),
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
