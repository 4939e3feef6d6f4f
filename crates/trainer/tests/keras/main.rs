//! Headlight beside Keras and TransformerLens: runs that `scripts/evidence/keras_reference.py` and
//! `scripts/evidence/pytorch/transformer_lens_run.py` recorded in `data`, repeated by each engine on each device of this build.
//!
//! Three levels are compared: the forward pass with the recorded weights, the gradient of the first batch, and the whole training run
//! from the same weights over the same batches. `docs/reference/parity.md` has the differences, which each test prints.
#![cfg(feature = "flex")]
#![allow(missing_docs, clippy::unwrap_used)]

mod recording;

use std::path::Path;
use std::sync::Arc;

use headlight_data::Batches;
use headlight_dump::Array;
use headlight_experiment::{Experiment, Predictions};
use headlight_trainer::Session;
use headlight_trainer::devices::find;
use headlight_trainer::files::config;
use headlight_trainer::session::dataset::dataset;
use headlight_trainer::session::dumping::{DumpModel, DumpSamples, Origin, dump};
use headlight_trainer::session::opening::{adapters, open_device};
use recording::{Recording, read};

/// The largest difference from the recorded number: the largest of an absolute one, one relative to the number, and one relative
/// to the largest number of its array. They are a CPU's; Mesa's software driver keeps them too.
#[derive(Clone, Copy)]
struct Bound {
    absolute: f64,
    relative: f64,
    of_largest: f64,
}

impl Bound {
    const WEIGHTS: Self = Self::absolute(1e-6);
    const CONTEXT: Self = Self {
        of_largest: 1e-6,
        ..Self::absolute(1e-6)
    };
    const SCORES: Self = Self::absolute(2e-6);
    const LOGITS: Self = Self::absolute(5e-6);
    const LOSS: Self = Self::absolute(1e-4);
    const PROBABILITY: Self = Self::absolute(1e-3);
    const GRADIENT: Self = Self {
        relative: 1e-4,
        ..Self::absolute(1e-6)
    };

    const fn absolute(absolute: f64) -> Self {
        Self {
            absolute,
            relative: 0.0,
            of_largest: 0.0,
        }
    }

    fn holds(self, what: &str, ours: &[f32], theirs: &[f32]) {
        assert_eq!(ours.len(), theirs.len(), "{what}");
        assert!(!ours.is_empty(), "{what}");
        let largest = theirs
            .iter()
            .fold(0.0_f32, |most, value| most.max(value.abs()));
        let absolute = self.absolute.max(self.of_largest * f64::from(largest));
        let mut most = 0.0_f64;
        for (&ours, &theirs) in ours.iter().zip(theirs) {
            let difference = (f64::from(ours) - f64::from(theirs)).abs();
            most = most.max(difference);
            let bound = absolute.max(self.relative * f64::from(theirs).abs());
            assert!(difference <= bound, "{what}: {ours}, not {theirs}");
        }
        println!("{what}: {} numbers, {most:.1e}", ours.len());
    }
}

/// Repeats a recorded run with every engine on every device of this build.
fn repeat(name: &str, steps: usize) {
    // Configs name their files from here.
    std::env::set_current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap();
    let bytes = read(name);
    let recording = Recording::new(&bytes);
    for (engine, device) in [
        ("fused", "flex"),
        ("burn", "flex"),
        ("burn", "ndarray"),
        ("burn", "wgpu"),
    ] {
        let own = find(device).unwrap();
        if !own.is_built || !own.is_cpu && adapters().is_empty() {
            continue;
        }
        let sets = [
            format!("compute.engine={engine}"),
            format!("compute.device={device}"),
        ];
        let config = config::load(&Path::new("data").join(format!("{name}.toml")), &sets).unwrap();
        let splits = Arc::new(dataset(&config).unwrap());
        let start = recording.parameters("initial", &config);
        let order = recording.order(splits.train.len());
        let experiment = Experiment::new(config, splits, Some(start)).unwrap();
        let session = Session {
            experiment: experiment.with_order(order),
            device: open_device(device).unwrap(),
            threads: 1,
        };
        let what = format!("{name}, {engine} on {device}");
        forward(&what, &recording, &session);
        training(&what, &recording, &session, steps);
    }
}

/// The forward pass with the initial and with the final weights.
fn forward(what: &str, recording: &Recording<'_>, session: &Session) {
    let config = &session.experiment.config;
    let indices = recording.indices("samples");
    for weights in ["initial", "final"] {
        let parameters = &recording.parameters(weights, config);
        let samples = DumpSamples {
            dataset: &session.experiment.splits.train,
            indices: indices.iter().map(|&sample| sample as usize).collect(),
            numbered: true,
            labelled: true,
        };
        let dump = dump(
            DumpModel { config, parameters },
            &samples,
            Origin::default(),
            &session.device,
            &[],
        )
        .unwrap();
        let check = |part: &str, ours: &[f32], bound: Bound| {
            let theirs = recording.floats(&format!("{weights}.{part}"));
            bound.holds(&format!("{what}, {weights} {part}"), ours, &theirs);
        };
        check(
            "embeddings",
            &dump.arrays[Array::Embeddings],
            Bound::WEIGHTS,
        );
        check(
            "attention_scores",
            &dump.arrays[Array::Scores],
            Bound::SCORES,
        );
        check(
            "attention_weights",
            &dump.arrays[Array::Weights],
            Bound::WEIGHTS,
        );
        check("context", &dump.arrays[Array::Context], Bound::CONTEXT);
        check("logits", &dump.logits, Bound::LOGITS);
    }
}

/// The gradient of the first batch, the losses of all steps, and the probabilities at the end.
fn training(what: &str, recording: &Recording<'_>, session: &Session, steps: usize) {
    let experiment = &session.experiment;
    let train = &experiment.splits.train;
    let mut engine = session.engine().unwrap();
    let first = experiment.batches(1);
    let gradient = engine.gradient(train, first.iter().next().unwrap());
    let recorded = recording.parameters("gradient", &experiment.config);
    assert_eq!(gradient.len(), recorded.len());
    for (ours, theirs) in gradient.iter().zip(&recorded) {
        let name = &theirs.name;
        assert_eq!(&ours.name, name);
        Bound::GRADIENT.holds(
            &format!("{what}, gradient of {name}"),
            &ours.values,
            &theirs.values,
        );
    }
    let mut losses = Vec::new();
    for epoch in 1..=experiment.epochs() {
        for batch in experiment.batches(epoch).iter() {
            let rate = experiment.learning_rate(losses.len());
            losses.push(engine.step(train, batch, rate) as f32);
        }
    }
    assert_eq!(losses.len(), steps);
    Bound::LOSS.holds(
        &format!("{what}, losses"),
        &losses,
        &recording.floats("losses"),
    );
    let (mut probabilities, mut predictions) = (Vec::new(), Predictions::default());
    for samples in Batches::in_order(train, engine.samples_per_pass()).iter() {
        engine.predict(train, samples, &mut predictions);
        probabilities.extend(predictions.probabilities.iter().map(|&p| p as f32));
    }
    let recorded = recording.floats("final.probabilities");
    Bound::PROBABILITY.holds(
        &format!("{what}, final probabilities"),
        &probabilities,
        &recorded,
    );
}

#[test]
fn every_level_of_the_notebook_is_as_in_keras() {
    repeat("keras_reference", 1500);
}

/// Two layers with feed-forward layers, and three classes.
#[test]
fn so_are_blocks_and_classes() {
    repeat("keras_classes", 250);
}

/// Sentences of different lengths, whose padding is masked, in three classes.
#[test]
fn so_are_words_and_padding() {
    repeat("keras_words", 75);
}

/// Norms first, GELU, two logits, AdamW: a model that TransformerLens made, and PyTorch trained.
#[test]
fn so_is_a_model_of_transformer_lens() {
    repeat("transformer_lens", 300);
}
