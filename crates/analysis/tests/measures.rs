//! Measures of trained models beside NumPy's: `scripts/evidence/test_measures.py` computes `measures/expected.json` from
//! the weights alone, in float64.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use headlight_analysis::measures::{MeasureValue, check, compute_measures, info};
use headlight_experiment::config::{ExperimentConfig, MeasureName, toml};
use headlight_experiment::evaluate::evaluate;
use headlight_experiment::metrics::Metric;
use headlight_experiment::{Engine, Error, Experiment, FusedEngine};
use serde_json::Value;

fn file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/measures");
    fs::read_to_string(folder.join(name)).unwrap()
}

/// A config of the folder with these changes.
fn config(name: &str, changes: &[&str]) -> Result<ExperimentConfig, String> {
    let changes = changes.iter().map(|change| ("--set", *change));
    let text = file(&format!("{name}.toml"));
    toml::parse("c.toml", &text, changes, |_| Ok(()), check)
}

fn experiment(config: ExperimentConfig) -> Experiment {
    let splits = config.data.generate().unwrap();
    Experiment::new(config, Arc::new(splits), None).unwrap()
}

/// The engine after the whole training.
fn trained(experiment: &Experiment) -> FusedEngine<'_> {
    let mut engine = FusedEngine::new(experiment).unwrap();
    let mut step = 0;
    for epoch in 1..=experiment.epochs() {
        for batch in experiment.batches(epoch).iter() {
            let rate = experiment.learning_rate(step);
            engine.step(&experiment.splits.train, batch, rate);
            step += 1;
        }
    }
    engine
}

fn measures(experiment: &Experiment, weights: &[f32]) -> BTreeMap<MeasureName, MeasureValue> {
    let judged = experiment.splits.judging_samples();
    let found = compute_measures(&experiment.config, weights, judged, None).unwrap();
    found.into_iter().collect()
}

fn is_close(found: &Value, expected: &Value, tolerance: f64) -> bool {
    match (found, expected) {
        (Value::Array(found), Value::Array(expected)) => {
            let mut pairs = found.iter().zip(expected);
            found.len() == expected.len() && pairs.all(|(a, b)| is_close(a, b, tolerance))
        }
        _ => (found.as_f64().unwrap() - expected.as_f64().unwrap()).abs() < tolerance,
    }
}

#[test]
fn measures_are_numpys() {
    let expected: BTreeMap<String, BTreeMap<MeasureName, Value>> =
        serde_json::from_str(&file("expected.json")).unwrap();
    assert_eq!(expected.len(), 4);
    for (name, expected) in expected {
        let experiment = experiment(config(&name, &[]).unwrap());
        let weights = trained(&experiment).weights();
        let found = measures(&experiment, &weights);
        assert!(found.keys().eq(expected.keys()), "{name}");
        for (measure, expected) in expected {
            let found = serde_json::to_value(&found[&measure]).unwrap();
            // One pair of words whose order float32 does not tell moves the mean over the samples by less.
            let is_kendall = measure.name().starts_with("kendall");
            let tolerance = if is_kendall { 0.005 } else { 1e-4 };
            assert!(
                is_close(&found, &expected, tolerance),
                "{name}, {}: {found}, not {expected}",
                measure.name()
            );
        }
        // The order of computing does not matter.
        assert_eq!(measures(&experiment, &weights), found, "{name}");
    }
}

/// In sentences, the words that decide differ; in the last layer, the mean over heads is what evaluation measures.
#[test]
fn attention_by_head_is_that_of_evaluation() {
    let change = r#"report.measures=["deciding_uniform", "deciding_attention"]"#;
    let experiment = experiment(config("sentences", &[change]).unwrap());
    let mut engine = trained(&experiment);
    let found = measures(&experiment, &engine.weights());
    let held_out = &experiment.splits.held_out;
    let (config, positives) = (&experiment.config, held_out.positives().count() as f64);
    let evaluation = evaluate(&mut engine, held_out, 2, Some(config)).unwrap();
    let over_all = |metrics: [Metric; 2]| {
        let [positive, negative] = metrics.map(|metric| evaluation.metrics[metric].unwrap());
        let samples = held_out.len() as f64;
        (positive * positives + negative * (samples - positives)) / samples
    };
    let MeasureValue::PerHead(blocks) = &found[&MeasureName::DecidingAttention] else {
        panic!("{found:?}")
    };
    assert_eq!((blocks.len(), blocks[0].len()), (2, 2));
    let mean = blocks[1].iter().sum::<f64>() / 2.0;
    let expected = over_all([Metric::AttentionPositive, Metric::AttentionNegative]);
    assert!((mean - expected).abs() < 1e-6, "{mean}, not {expected}");
    let uniform = over_all([Metric::UniformPositive, Metric::UniformNegative]);
    let MeasureValue::Number(found) = found[&MeasureName::DecidingUniform] else {
        panic!("no uniform attention")
    };
    assert!((found - uniform).abs() < 1e-9, "{found}, not {uniform}");
}

/// A model whose attention and gradients are all 0 has no order of words.
#[test]
fn models_of_zeros_have_no_order() {
    let experiment = experiment(config("most_frequent", &[]).unwrap());
    let count = FusedEngine::new(&experiment).unwrap().weights().len();
    let found = measures(&experiment, &vec![0.0; count]);
    assert_eq!(found.len(), 2);
    for (name, value) in found {
        assert_eq!(value, MeasureValue::Undefined, "{}", name.name());
        assert_eq!(serde_json::to_string(&value).unwrap(), "null");
    }
}

#[test]
fn weights_of_another_model_are_refused() {
    let experiment = experiment(config("sums", &[]).unwrap());
    let judged = experiment.splits.judging_samples();
    let error = compute_measures(&experiment.config, &[1.0], judged, None).unwrap_err();
    assert!(
        error.to_string().contains("1 weights were given"),
        "{error}"
    );
    let mut weights = FusedEngine::new(&experiment).unwrap().weights();
    weights[3] = f32::NAN;
    let error = compute_measures(&experiment.config, &weights, judged, None).unwrap_err();
    assert!(matches!(error, Error::Diverged(_)), "{error}");
}

/// A config that asks for a measure which its models lack is refused, with the reason.
#[test]
fn configs_without_a_measure_say_why() {
    for (name, changes, reason) in [
        (
            "most_frequent",
            &["data.seq_len=1"][..],
            "kendall_gradient compares the tokens of a sample; data.seq_len must be at least 2",
        ),
        (
            "sums",
            &[
                r#"report.measures=["deciding_uniform"]"#,
                "model.attention.softmax=false",
                "model.attention.rate=1.0",
            ],
            "scores, which have no uniform attention",
        ),
        (
            "sums",
            &[r#"report.measures=["head_removal", "deciding_uniform", "head_removal"]"#],
            "head_removal is named twice",
        ),
        (
            "token_at",
            &[r#"data.rule={ kind = "token-anywhere", token = 4 }"#],
            "the same positions decide in every sample",
        ),
        ("sums", &[r#"report.measures=["gap"]"#], "needs two classes"),
        (
            "sums",
            &[r#"report.measures=["roundness"]"#],
            "it can be deciding_attention, deciding_uniform",
        ),
    ] {
        let message = config(name, changes).unwrap_err();
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(message.contains(reason), "{name} {changes:?}: {message}");
    }
    assert!(config("sums", &["data.rule.positions=[0, 1]"]).is_ok());
}

/// Each measure has a sentence, and decimals of its values.
#[test]
fn the_table_describes_each_measure() {
    for name in MeasureName::ALL {
        let (info, sentence) = (info(name), name.sentence());
        // A count has no decimals.
        let decimals = match name {
            MeasureName::WrongInputs => 0..=0,
            _ => 3..=6,
        };
        assert!(decimals.contains(&info.decimals), "{sentence}");
        assert!(sentence.ends_with('.') && sentence.len() > 40, "{sentence}");
        let per_head = [MeasureName::DecidingAttention, MeasureName::HeadRemoval];
        assert_eq!(info.is_per_head, per_head.contains(&name));
    }
}

/// Kendall's correlations are those of the first 1,000 samples, however many there are.
#[test]
fn correlations_are_of_the_first_thousand_samples() {
    let of = |held_out: usize| {
        let held_out = format!("data.held_out={held_out}");
        let changes = [&*held_out, "data.generator=\"chacha\""];
        let experiment = experiment(config("most_frequent", &changes).unwrap());
        let weights: Vec<f32> = experiment
            .start
            .iter()
            .flat_map(|parameter| parameter.values.clone())
            .collect();
        measures(&experiment, &weights)
    };
    let first = of(1000);
    assert_eq!(first, of(1100));
    assert_ne!(first, of(900));
}
