//! Trains both engines and holds them to bounds.

use std::path::{Path, PathBuf};

use headlight_architecture::Parameter;
use headlight_data::Batches;
use headlight_dump::{Array, AttentionDump};
use headlight_experiment::config::EngineName;
use headlight_experiment::{Engine, Experiment, FusedEngine, Predictions};
use headlight_trainer::Session;
use headlight_trainer::burn::BurnEngine;
use headlight_trainer::files::config;
use headlight_trainer::session::dumping::{DumpModel, Origin, dump};

pub(crate) fn configs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs")
}

pub(crate) fn session_of(config: &Path, sets: &[&str]) -> Session {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    Session::open(config::load(config, &sets).unwrap()).unwrap()
}

pub(crate) fn session(sets: &[&str]) -> Session {
    session_of(&configs().join("notebook.toml"), sets)
}

fn furthest(ours: &[f64], theirs: &[f64]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    let pairs = ours.iter().zip(theirs);
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The largest size of a value, and at least 1.
fn largest(values: &[f64]) -> f64 {
    let sizes = values.iter().map(|value| value.abs());
    sizes.fold(1.0, f64::max)
}

/// The largest difference of each gradient tensor, relative to its own largest value.
///
/// A key bias shifts all scores of a query alike, so its gradient is 0 but for rounding: it is held to the
/// scale of the query bias. Where scores hardly matter, all gradients of queries and keys are differences of nearly equal
/// numbers: they are held to a `share` of the block's largest gradient if that is more. Where all gradients of a tensor are
/// 0, both engines must have 0.
fn gradients_apart(ours: &[Parameter], theirs: &[Parameter], share: f64) -> Vec<(String, f64)> {
    let largest = |is_meant: &dyn Fn(&str) -> bool| {
        let meant = theirs.iter().filter(|own| is_meant(&own.name));
        let sizes = meant.flat_map(|own| own.values.iter().map(|value| f64::from(value.abs())));
        sizes.fold(0.0, f64::max)
    };
    let scale = |name: &str| {
        let counterpart = name.replace("key.bias", "query.bias");
        let own = largest(&|other| other == counterpart);
        let (block, part) = name.split_once(".attention.").unwrap_or_default();
        if part.starts_with("query") || part.starts_with("key") {
            let block = format!("{block}.");
            own.max(share * largest(&|other| other.starts_with(&block)))
        } else {
            own
        }
    };
    let pairs = ours.iter().zip(theirs);
    pairs
        .map(|(ours, theirs)| {
            assert_eq!((&ours.name, &ours.shape), (&theirs.name, &theirs.shape));
            let values = ours.values.iter().zip(&theirs.values);
            let apart = values.map(|(a, b)| f64::from((a - b).abs()));
            let apart = apart.fold(0.0, f64::max);
            let relative = if apart == 0.0 {
                0.0
            } else {
                apart / scale(&theirs.name)
            };
            (ours.name.clone(), relative)
        })
        .collect()
}

fn predictions(engine: &mut dyn Engine, experiment: &Experiment) -> Predictions {
    let train = &experiment.splits.train;
    let mut all = Predictions::default();
    let mut part = Predictions::default();
    for samples in Batches::in_order(train, engine.samples_per_pass()).iter() {
        engine.predict(train, samples, &mut part);
        let answers = samples.len() * train.labels_per_sample();
        // Of answers that do not count, the fused engine may compute none.
        for (index, &sample) in samples.iter().enumerate() {
            for (place, _) in train.counted_labels(sample as usize) {
                let answer = index * train.labels_per_sample() + place;
                let own = |values: &[f64]| {
                    let each = values.len() / answers;
                    values[answer * each..][..each].to_vec()
                };
                all.logits.extend(own(&part.logits));
                all.probabilities.extend(own(&part.probabilities));
                all.losses.extend(own(&part.losses));
                all.attention.extend(own(&part.attention));
            }
        }
    }
    all
}

/// How far the engines may be apart: gradients of each tensor relative to its own largest value, losses at each
/// step, and forward passes.
pub(crate) struct Bounds {
    gradient: f64,
    /// Of a block's largest gradient: what the gradients of queries and keys are at least held to.
    share: f64,
    loss: f64,
    forward: f64,
    /// Whether predictions, and the results of a softmax, are held to the scale of what they are computed from.
    by_size: bool,
}

/// Trains both and holds them to bounds: gradients and forward passes at the start, losses, final predictions.
pub(crate) fn compare(session: &Session, what: &str, steps: usize, bounds: &Bounds) {
    let experiment = &session.experiment;
    let mut burn = BurnEngine::new(experiment, &session.device.device).unwrap();
    let mut fused = FusedEngine::new(experiment).unwrap();
    let batches = batches(experiment, steps);
    compare_forward(session, what, bounds);
    let of_batch = |engine: &mut dyn Engine| engine.gradient(&experiment.splits.train, &batches[0]);
    let gradients = (of_batch(&mut fused), of_batch(&mut burn));
    compare_gradients(&gradients.0, &gradients.1, what, bounds);
    let norms = [&gradients.0, &gradients.1].map(|gradient| norm(gradient));
    for (step, batch) in batches.iter().enumerate() {
        let rate = experiment.learning_rate(step);
        let of_step = |engine: &mut dyn Engine| {
            let loss = engine.step(&experiment.splits.train, batch, rate);
            (loss, engine.gradient_norm())
        };
        let (ours, theirs) = (of_step(&mut fused), of_step(&mut burn));
        let near = |(a, b): (f64, f64), bound: f64| (a - b).abs() < bound * b.max(1.0);
        assert!(
            near((ours.0, theirs.0), bounds.loss)
                && ours.1.is_some() == theirs.1.is_some()
                && ours
                    .1
                    .zip(theirs.1)
                    .is_none_or(|norms| near(norms, 10.0 * bounds.loss)),
            "{what}, step {step}: loss and norm {ours:?} beside {theirs:?}"
        );
        for (measured, norm) in [ours.1, theirs.1].into_iter().zip(norms) {
            let apart = (measured.unwrap_or(norm) - norm).abs();
            assert!(
                step > 0 || apart <= 1e-6 * norm,
                "{what}: norm {measured:?} of a gradient whose norm is {norm}"
            );
        }
    }
    let ours = predictions(&mut fused, experiment);
    let theirs = predictions(&mut burn, experiment);
    // Large logits make probabilities and losses less exact.
    let scale = |values: &[f64]| {
        if bounds.by_size { largest(values) } else { 1.0 }
    };
    let logits = scale(&theirs.logits);
    let apart = [
        furthest(&ours.attention, &theirs.attention) / scale(&theirs.attention),
        furthest(&ours.probabilities, &theirs.probabilities) / logits,
        furthest(&ours.losses, &theirs.losses) / logits,
        furthest(&ours.logits, &theirs.logits) / logits,
    ];
    println!(
        "{what}: attention, probabilities, losses, logits {}",
        apart.map(|apart| format!("{apart:.1e}")).join(" ")
    );
    for (apart, factor) in apart.into_iter().zip([1.0, 1.0, 1.0, 10.0]) {
        assert!(apart < factor * bounds.loss, "{what}: {apart:e}");
    }
}

/// The norm of a gradient.
fn norm(gradient: &[Parameter]) -> f64 {
    let values = gradient.iter().flat_map(|parameter| &parameter.values);
    let squares = values.map(|&value| f64::from(value) * f64::from(value));
    squares.sum::<f64>().sqrt()
}

/// The samples of the first steps.
pub(crate) fn batches(experiment: &Experiment, steps: usize) -> Vec<Vec<u32>> {
    let of_epoch = |epoch| -> Vec<Vec<u32>> {
        let batches = experiment.batches(epoch);
        batches.iter().map(<[u32]>::to_vec).collect()
    };
    (1..).flat_map(of_epoch).take(steps).collect()
}

fn compare_gradients(ours: &[Parameter], theirs: &[Parameter], what: &str, bounds: &Bounds) {
    let apart = gradients_apart(ours, theirs, bounds.share);
    let worst = apart.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    println!("{what}: gradients {:.1e} ({})", worst.1, worst.0);
    assert!(worst.1 < bounds.gradient, "{what}: {worst:?}");
    // The largest tensors are held more tightly: relative to the largest value of all.
    let pairs = ours.iter().zip(theirs);
    let pairs = pairs.flat_map(|(a, b)| a.values.iter().zip(&b.values));
    let [apart, largest] = pairs.fold([0.0_f64; 2], |[apart, largest], (&a, &b)| {
        let (a, b) = (f64::from(a), f64::from(b));
        [apart.max((a - b).abs()), largest.max(b.abs())]
    });
    assert!(
        apart < bounds.gradient / 2.0 * largest || largest == 0.0,
        "{what}: {apart:e} of {largest:e}"
    );
}

/// The arrays of both engines' dumps of the first samples, with the initial weights.
fn compare_forward(session: &Session, what: &str, bounds: &Bounds) {
    let experiment = &session.experiment;
    let of = |engine: EngineName| {
        let mut config = experiment.config.clone();
        config.compute.engine = engine;
        let model = DumpModel {
            config: &config,
            parameters: &experiment.start,
        };
        let samples = session.dump_samples((0..experiment.splits.train.len().min(21)).collect());
        dump(model, &samples, Origin::default(), &session.device, &[]).unwrap()
    };
    let (ours, theirs) = (of(EngineName::Fused), of(EngineName::Burn));
    assert_eq!((ours.dims, &ours.tokens), (theirs.dims, &theirs.tokens));
    assert_eq!(ours.attention_mask, theirs.attention_mask);
    let all = |dump: &AttentionDump| {
        let computed = Array::ALL.map(|array| (array.name(), dump.arrays[array].clone()));
        let logits = ("logits", dump.logits.clone());
        let mut all = vec![logits, ("probabilities", dump.probabilities.clone())];
        all.extend(computed);
        all
    };
    let wide = |values: &[f32]| {
        values
            .iter()
            .map(|&value| value.into())
            .collect::<Vec<f64>>()
    };
    let logits = largest(&wide(&theirs.logits));
    let scores = largest(&wide(&theirs.arrays[Array::Scores]));
    for ((name, ours), (_, theirs)) in all(&ours).into_iter().zip(all(&theirs)) {
        assert_eq!(ours.len(), theirs.len(), "{what}: {name}");
        let (ours, theirs) = (wide(&ours), wide(&theirs));
        // Large arguments make the results of a softmax less exact.
        let scale = match name {
            "probabilities" if bounds.by_size => logits,
            "attention_weights" if bounds.by_size => scores.max(largest(&theirs)),
            _ => largest(&theirs),
        };
        let apart = furthest(&ours, &theirs) / scale;
        assert!(apart < bounds.forward, "{what}: {name}: {apart:e}");
    }
}

pub(crate) const TIGHT: Bounds = Bounds {
    gradient: 2e-6,
    share: 0.0,
    loss: 2e-5,
    forward: 2e-6,
    by_size: false,
};

/// Rounding grows from block to block.
pub(crate) const DEEP: Bounds = Bounds {
    gradient: 5e-5,
    share: 0.0,
    loss: 5e-4,
    forward: 1e-5,
    by_size: false,
};

/// As [`DEEP`], for models in which scores may hardly matter, and logits may be large.
pub(crate) const ANY: Bounds = Bounds {
    share: 0.01,
    by_size: true,
    ..DEEP
};
