//! Models and samples without a certificate, and counts that are ended.

use std::sync::atomic::{AtomicUsize, Ordering};

use headlight_analysis::certificate::{certify, check, inputs, sample};
use headlight_experiment::Error;

use super::config;

const SAMPLES: [&str; 3] = [
    "data.vocab_size=9",
    "data.seq_len=4",
    "data.rule={kind = \"token-anywhere\", token = 3}",
];

/// The reason why a config with these changes has no certificate.
fn reason(changes: &[&str]) -> String {
    let changes: Vec<&str> = SAMPLES.iter().chain(changes).copied().collect();
    check(&config(&changes)).unwrap_err()
}

#[test]
fn models_and_samples_without_a_certificate_are_named() {
    for (change, expected) in [
        (&["model.n_layers=2"][..], "one layer, and this one has 2"),
        (&["model.pooling=\"mean\""], "reads one position"),
        (&["model.attention.softmax=false"], "softmax"),
        (&["model.attention.rate=0.5"], "rate"),
        (&["model.attention.padding_token=8"], "padding"),
        (
            &["data.seq_len=1", "model.attention.mask=[[0, 0], [1, 1]]"],
            "some key",
        ),
        (
            &["data.rule={kind = \"balanced-brackets\", opening = 1, closing = 2}"],
            "data.rule",
        ),
        (&["data.rule={kind = \"induction\"}"], "data.rule"),
        (
            &[
                "data.rule={kind = \"histogram\"}",
                "data.task=\"token-classification\"",
            ],
            "one label",
        ),
        (
            &["data.vocab_size=50001", "data.seq_len=5"],
            "5 positions of 50000 tokens",
        ),
    ] {
        let reason = reason(change);
        assert!(reason.contains(expected), "{change:?}: {reason}");
    }
    let sentences = config(&[
        "data.generator=\"sentences\"",
        "data.rule={kind = \"sentence\", corpus = \"negation\"}",
        "model.attention.padding_token=1",
    ]);
    assert!(check(&sentences).unwrap_err().contains("data.rule"));
    // The count and random inputs say the same.
    let brackets = [
        "data.vocab_size=3",
        "data.seq_len=4",
        "data.rule={kind = \"balanced-brackets\", opening = 1, closing = 2}",
    ];
    let brackets = config(&brackets);
    let weights = vec![0.0; 1000];
    for result in [
        certify(&brackets, &weights, 1, 1, &|_| Ok(())).map(|_| ()),
        sample(&brackets, &weights, 1, 0, &|_| Ok(())).map(|_| ()),
    ] {
        let Err(Error::Input(message)) = result else {
            panic!("{result:?}")
        };
        assert!(
            message.starts_with("a certificate needs a rule"),
            "{message}"
        );
    }
}

/// As `predict` and `evaluate` refuse them.
#[test]
fn answers_that_are_not_finite_are_refused() {
    let config = config(&SAMPLES);
    let layout = config.model.layout(config.inputs());
    let size = layout
        .iter()
        .map(headlight_architecture::ParameterSpec::size)
        .sum();
    let weights: Vec<f32> = (0..size).map(|i| 1e30 * ((i * i) as f32).sin()).collect();
    for result in [
        certify(&config, &weights, 1, 1, &|_| Ok(())).map(|_| ()),
        sample(&config, &weights, 10, 0, &|_| Ok(())).map(|_| ()),
    ] {
        let message = result.unwrap_err().to_string();
        assert!(message.contains("not finite"), "{message}");
    }
}

#[test]
fn the_number_of_inputs_is_that_of_tokens_to_the_power_of_positions() {
    assert_eq!(inputs(&config(&SAMPLES)), Some(8 * 8 * 8 * 8));
    let without = [&SAMPLES[..], &["data.cls=\"none\""]].concat();
    assert_eq!(inputs(&config(&without)), Some(9 * 9 * 9 * 9));
    let most = [&SAMPLES[..], &["data.vocab_size=65537", "data.seq_len=4"]].concat();
    assert_eq!(inputs(&config(&most)), None, "2^64 inputs");
    let most = [&SAMPLES[..], &["data.vocab_size=65536", "data.seq_len=4"]].concat();
    assert_eq!(inputs(&config(&most)), Some(65_535_u64.pow(4)));
}

/// A count that is told to end ends, whatever it is at: regions that bounds do not decide, and samples of one answer whose labels are
/// found one by one.
#[test]
fn a_watch_ends_the_count() {
    for changes in [
        [
            "data.rule={kind = \"sum-mod\", modulus = 5}",
            "data.seq_len=10",
        ],
        ["data.rule={kind = \"most-frequent\"}", "data.seq_len=10"],
    ] {
        let config = config(&[&["data.vocab_size=60"][..], &changes].concat());
        let size = config
            .model
            .layout(config.inputs())
            .iter()
            .map(headlight_architecture::ParameterSpec::size)
            .sum();
        // Small weights, and one class far ahead, or none.
        let mut weights: Vec<f32> = (0..size).map(|i| ((i * i) as f32).sin()).collect();
        if config.data.n_classes > 5 {
            for weight in &mut weights {
                *weight /= 100.0;
            }
            weights[size - 1] = 10.0;
        }
        for threads in [1, 2] {
            let looks = AtomicUsize::new(0);
            let watch = |share: f64| {
                assert!((0.0..1.0).contains(&share));
                match looks.fetch_add(1, Ordering::Relaxed) {
                    0 | 1 => Ok(()),
                    _ => Err(Error::Input("enough".to_owned())),
                }
            };
            let result = certify(&config, &weights, 3, threads, &watch);
            assert!(matches!(result, Err(Error::Input(message)) if message == "enough"));
        }
    }
}
