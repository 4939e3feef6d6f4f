//! Labels that are wrong on purpose.

use crate::common::read;
use headlight_data::files::{Format, Rows};
use headlight_data::{Dataset, DatasetConfig};
use serde_json::{Value, json};

/// Three classes, and which one a sample has depends on its first token alone.
fn config(changes: &Value) -> DatasetConfig {
    let keys = json!({
        "seed": 3, "generator": "chacha", "samples": 3000, "held_out": 500, "vocab_size": 12, "seq_len": 5,
        "n_classes": 3, "label_noise": 0.25, "rule": {"kind": "count", "token": 4},
    });
    crate::common::parsed(keys, changes).unwrap()
}

/// The true label of each sample.
fn true_labels(config: &DatasetConfig, dataset: &Dataset) -> Vec<u32> {
    let rule = config.rule.as_ref().unwrap();
    let label = |sample| rule.label_for(dataset.tokens(sample), config.cls, config.n_classes);
    (0..dataset.len()).map(label).collect()
}

#[test]
fn a_share_of_training_labels_is_replaced_by_each_other_class_alike() {
    let config = config(&json!({}));
    let splits = config.generate().unwrap();
    let (truth, labels) = (true_labels(&config, &splits.train), splits.train.labels());
    // Of each true class, the share of samples with each label. Five standard deviations of 300 samples or more.
    for class in 0..3 {
        let own: Vec<u32> = (0..labels.len())
            .filter(|&sample| truth[sample] == class)
            .map(|sample| labels[sample])
            .collect();
        assert!(own.len() > 100, "{}", own.len());
        for label in 0..3 {
            let share = if label == class { 0.75 } else { 0.125 };
            let expected = share * own.len() as f64;
            let found = own
                .iter()
                .map(|&own| f64::from(u8::from(own == label)))
                .sum::<f64>();
            let deviation = (expected * (1.0 - share)).sqrt();
            assert!(
                (found - expected).abs() < 5.0 * deviation,
                "{found} {expected}"
            );
        }
    }
    for (sample, &label) in truth.iter().enumerate() {
        assert_eq!(*config.labels_without_noise(&splits.train, sample), [label]);
    }
    let held_out = true_labels(&config, &splits.held_out);
    assert_eq!(splits.held_out.labels(), held_out);
}

/// The tokens stay as they are, and what is wrong depends on the seed and the sample's index alone.
#[test]
fn noise_depends_on_the_seed_and_the_index() {
    let wrong = |changes: &Value| -> Vec<usize> {
        let config = config(changes);
        let train = config.generate().unwrap().train;
        let truth = true_labels(&config, &train);
        let is_wrong = |&sample: &usize| truth[sample] != train.label(sample);
        (0..1000).filter(is_wrong).collect()
    };
    let own = wrong(&json!({}));
    assert!(!own.is_empty());
    for same in [
        json!({"samples": 1000}),
        json!({"held_out": 0}),
        json!({"vocab_size": 9, "seq_len": 4}),
        json!({"generator": "numpy"}),
        json!({"n_classes": 2}),
    ] {
        assert_eq!(wrong(&same), own, "{same}");
    }
    assert_ne!(wrong(&json!({"seed": 4})), own);
    // More noise keeps the wrong labels of less.
    let more = wrong(&json!({"label_noise": 0.5}));
    assert!(own.iter().all(|sample| more.contains(sample)) && more.len() > own.len());
    assert!(wrong(&json!({"label_noise": 0.0})).is_empty());

    let tokens = |noise: f64| {
        let config = config(&json!({"label_noise": noise}));
        config.generate().unwrap().train.all_tokens().to_vec()
    };
    assert_eq!(tokens(0.0), tokens(0.9));
}

/// Origin: `scripts/evidence/test_streams.py`, ChaCha8 from its definition.
#[test]
fn noise_is_pinned() {
    let config = config(
        &json!({"vocab_size": 2, "seq_len": 1, "held_out": 0, "rule": {"kind": "count", "token": 1},
        "n_classes": 2, "samples": 40}),
    );
    let train = config.generate().unwrap().train;
    let wrong: Vec<usize> = (0..40).filter(|&sample| train.label(sample) == 0).collect();
    assert_eq!(wrong, PINNED_NOISE);
}

const PINNED_NOISE: [usize; 11] = [1, 6, 8, 11, 12, 17, 21, 23, 30, 32, 36];

/// 30 samples, each another number; the even ones are of class 1.
fn rows() -> Rows {
    let rows = (1..=30).map(|number| format!("{},{number}\n", u8::from(number % 2 == 0)));
    let text = "label,token_0\n".to_owned() + &rows.collect::<String>();
    read(text, Format::Csv).unwrap()
}

#[test]
fn samples_of_a_file_keep_their_noise_in_each_fold() {
    let of_file = |changes: &Value| -> DatasetConfig {
        let keys =
            json!({"seed": 3, "file": "a.csv", "vocab_size": 31, "seq_len": 1, "label_noise": 0.3});
        crate::common::parsed(keys, changes).unwrap()
    };
    let is_wrong = |dataset: &Dataset, sample: usize| {
        dataset.label(sample) != (dataset.tokens(sample)[1] + 1) % 2
    };
    let all = rows().fit(&of_file(&json!({})), None).unwrap().train;
    let wrong: Vec<u32> = (0..30)
        .filter(|&sample| is_wrong(&all, sample))
        .map(|sample| all.tokens(sample)[1])
        .collect();
    assert!((3..18).contains(&wrong.len()), "{wrong:?}");
    for changes in [json!({"fold": "2/3"}), json!({"held_out": 7})] {
        let splits = rows().fit(&of_file(&changes), None).unwrap();
        for sample in 0..splits.train.len() {
            let number = splits.train.tokens(sample)[1];
            assert_eq!(is_wrong(&splits.train, sample), wrong.contains(&number));
        }
        let held_out = &splits.held_out;
        assert!(
            held_out.len() >= 7 && (0..held_out.len()).all(|sample| !is_wrong(held_out, sample))
        );
    }
    // The rule of a file's config is compared with the labels of the file.
    let rule = json!({"rule": {"kind": "token-anywhere", "token": 4}});
    let error = rows().fit(&of_file(&rule), None).unwrap_err().to_string();
    assert!(error.contains("line 3"), "{error}");
}
