//! Configs: their defaults, and the limits of an experiment.
#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;

use crate::common::{CONFIG, dataset, experiment, parse};
use headlight_data::{ClsPlace, Dataset, Splits};
use headlight_experiment::config::{DumpFormat, EngineName, ExperimentConfig, toml};
use headlight_experiment::{Error, Experiment, samples_per_pass};

#[test]
fn keys_that_are_left_out_have_kerass_defaults() {
    let text = CONFIG.replace("batch_size = 4\n", "");
    let config = toml::parse("c.toml", &text, std::iter::empty(), |_| Ok(()), |_| Ok(())).unwrap();
    let training = &config.training;
    assert_eq!(training.batch_size, 16);
    let rates = [
        training.learning_rate,
        training.beta_1,
        training.beta_2,
        training.epsilon.value,
    ];
    assert_eq!(
        rates.map(f64::to_bits),
        [1e-3, 0.9, 0.999, 1e-7].map(f64::to_bits)
    );
    let inputs = config.inputs();
    assert_eq!(
        (inputs.vocab_size, inputs.positions, inputs.read_position),
        (9, 4, 0)
    );
    let last = parse(&["data.cls=last"]).unwrap().inputs();
    assert_eq!(last.read_position, 3);
}

#[test]
fn engines_and_formats_have_their_names() {
    let engines = EngineName::ALL.map(|engine| engine.to_string());
    assert_eq!(engines, ["auto", "burn", "fused"]);
    assert_eq!(
        DumpFormat::ALL.map(DumpFormat::name),
        ["npz", "json", "csv"]
    );
}

#[test]
fn limits_of_training_values() {
    for (change, key) in [
        ("training.epochs=0", Some("training.epochs")),
        ("training.batch_size=0", Some("training.batch_size")),
        ("training.learning_rate=0", Some("training.learning_rate")),
        ("training.learning_rate=inf", Some("training.learning_rate")),
        (
            "training.learning_rate=1e-60",
            Some("training.learning_rate"),
        ),
        (
            "training.learning_rate=-1.0",
            Some("training.learning_rate"),
        ),
        ("training.epsilon=0.0", Some("training.epsilon")),
        ("training.beta_1=0.0", None),
        ("training.beta_1=1.0", Some("training.beta_1")),
        ("training.beta_2=0.99999999999", Some("training.beta_2")),
        ("training.patience=1", Some("training.patience")),
        ("training.patience=0", None),
        ("data.vocab_size=0", Some("data.vocab_size")),
        ("model.n_heads=3", Some("model.n_heads")),
        (
            "model.attention.padding_token=9",
            Some("model.attention.padding_token"),
        ),
    ] {
        let config = toml::parse(
            "c.toml",
            CONFIG,
            std::iter::once(("--set", change)),
            |_| Ok(()),
            |_| Ok(()),
        );
        let place = key.map(|_| format!("--set {change}: "));
        match (config, place) {
            (Ok(_), None) => {}
            (Err(message), Some(place)) => assert!(message.starts_with(&place), "{message}"),
            (found, _) => panic!("{change}: {found:?}"),
        }
    }
}

#[test]
fn a_model_has_a_largest_size() {
    let mut config = parse(&["model.d_model=16", "model.d_ff=8", "model.n_layers=2"]).unwrap();
    // 16 numbers for each token and position, and 2 layers of 4 * 16 * 16 + 2 * 16 * 8.
    config.data.vocab_size = ((1 << 28) - 2 * 1280) / 16 - 4;
    assert_eq!(config.check_size(), Ok(()));
    config.data.vocab_size += 1;
    let message = config.check_size().unwrap_err().message;
    assert!(
        message.contains("268435472 parameters, more than 268435456"),
        "{message}"
    );

    let mut config = parse(&[]).unwrap();
    config.data.seq_len = 4095;
    assert_eq!(config.check_size(), Ok(()));
    config.model.n_heads = 2;
    let message = config.check_size().unwrap_err().message;
    assert!(
        message.contains("33554432 attention weights per layer, more than 16777216"),
        "{message}"
    );
}

#[test]
fn long_samples_go_through_in_smaller_parts() {
    let mut config = parse(&[]).unwrap();
    assert_eq!(samples_per_pass(&config), 500);
    for (seq_len, samples) in [(1023, 16), (255, 256), (4095, 1), (9999, 1)] {
        config.data.seq_len = seq_len;
        assert_eq!(samples_per_pass(&config), samples);
    }
}

#[test]
fn a_step_has_a_largest_size() {
    let mut config = parse(&[]).unwrap();
    (config.data.seq_len, config.training.batch_size) = (1023, 64);
    let samples = |count: usize| {
        let mut train = Dataset::empty(1023, ClsPlace::First);
        let mut tokens = vec![1; 1024];
        tokens[0] = 0;
        (0..count).for_each(|_| train.push(&tokens, 0));
        let held_out = Dataset::empty(1023, ClsPlace::First);
        Arc::new(Splits::new(train, held_out))
    };
    let new = |config: &ExperimentConfig, count| {
        Experiment::new(config.clone(), samples(count), None).err()
    };
    assert_eq!(new(&config, 64), None);
    config.training.batch_size = 65;
    assert_eq!(new(&config, 64), None);
    let message = new(&config, 65).unwrap().to_string();
    assert!(
        message.contains("a batch of 65") && message.contains("68157440"),
        "{message}"
    );
    config.model.n_layers = 2;
    assert!(matches!(new(&config, 64), Some(Error::Input(_))));
}

#[test]
fn steps_after_the_last_are_noted() {
    // 10 samples in batches of 4, 2 epochs: 6 steps.
    let noted = |change: &str| {
        let config = parse(&["training.batch_size=4", change]).unwrap();
        experiment(config, &[]).unreached_steps()
    };
    for reached in ["training.warmup_steps=5", "training.evaluate_at=[0, 6]"] {
        assert_eq!(noted(reached), None, "{reached}");
    }
    for beyond in ["training.warmup_steps=6", "training.evaluate_at=[1, 7]"] {
        let (key, _) = beyond.split_once('=').unwrap();
        assert!(noted(beyond).unwrap().contains(key));
    }
}

#[test]
fn recorded_samples_and_criteria_exist() {
    let check = |changes: &[&str], held_out: &[bool]| {
        experiment(parse(changes).unwrap(), held_out).check_recording()
    };
    assert_eq!(check(&["dump.samples=[0, 9]"], &[]), Ok(()));
    let message = check(&["dump.samples=[0, 10]"], &[])
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("`dump.samples`") && message.contains("sample 10"),
        "{message}"
    );
    assert!(message.contains("0 to 9"), "{message}");
    assert_eq!(check(&["training.keep_best=loss"], &[]), Ok(()));
    assert_eq!(check(&["training.keep_best=loss"], &[true]), Ok(()));
    assert_eq!(
        check(&["training.keep_best=held_out_loss"], &[true]),
        Ok(())
    );
    let error = check(&["training.keep_best=held_out_loss"], &[]).unwrap_err();
    assert!(error.to_string().contains("held_out_loss"), "{error}");
    assert_eq!(dataset(&[true]).len(), 1);
}

#[test]
fn samples_to_look_at_suit_the_config() {
    for (cls, good, without) in [("first", [0, 1, 2, 8], 0), ("last", [8, 1, 2, 0], 3)] {
        let config = parse(&[&format!("data.cls={cls}")]).unwrap();
        let samples = config.unlabelled([good, good]).unwrap();
        assert_eq!(samples.all_tokens(), [good, good].concat());
        let refused = |tokens: &[u32]| config.unlabelled([&good[..], tokens]).unwrap_err();
        assert!(refused(&good[1..]).contains("sample 1"));
        assert!(refused(&[&good[..], &[1]].concat()).contains("sample 1"));
        let mut wrong = good;
        wrong[without] = 1;
        assert!(refused(&wrong).contains("[CLS]"));
        let mut beyond = good;
        beyond[1] = 9;
        assert!(refused(&beyond).contains("token 9"));
    }
    let config = parse(&["data.cls=none"]).unwrap();
    let samples = config.unlabelled([[1, 0, 8], [0, 0, 0]]).unwrap();
    assert_eq!(samples.all_tokens(), [1, 0, 8, 0, 0, 0]);
    let error = config.unlabelled([[0, 1, 0, 8]]).unwrap_err();
    assert_eq!(error, "a sample has 3 tokens; sample 0 has 4");
}
