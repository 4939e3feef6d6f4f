//! Trains both engines and holds them to bounds.

use std::path::{Path, PathBuf};

use headlight_architecture::Parameter;
use headlight_data::Batches;
use headlight_dump::{Array, AttentionDump};
use headlight_experiment::config::EngineName;
use headlight_experiment::{Engine, Experiment, FusedEngine, Predictions};
use headlight_trainer::sessions::burn::BurnEngine;
use headlight_trainer::sessions::dumping::{Model, Origin, dump};
use headlight_trainer::sessions::session::Session;
use headlight_trainer::storage::config;

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

/// The largest difference of each gradient tensor, relative to its own largest value.
///
/// A key bias shifts all scores of a query alike, so its gradient is 0 but for rounding: it is held to the
/// scale of the query bias. Where all gradients of a tensor are 0, both engines must have 0.
fn gradients_apart(ours: &[Parameter], theirs: &[Parameter]) -> Vec<(String, f64)> {
    let largest = |name: &str| {
        let own = theirs.iter().find(|own| own.name == name).unwrap();
        let sizes = own.values.iter().map(|value| f64::from(value.abs()));
        sizes.fold(0.0, f64::max)
    };
    let pairs = ours.iter().zip(theirs);
    pairs
        .map(|(ours, theirs)| {
            assert_eq!((&ours.name, &ours.shape), (&theirs.name, &theirs.shape));
            let scale = largest(&theirs.name.replace("key.bias", "query.bias"));
            let values = ours.values.iter().zip(&theirs.values);
            let apart = values.map(|(a, b)| f64::from((a - b).abs()));
            let apart = apart.fold(0.0, f64::max);
            let relative = if apart == 0.0 { 0.0 } else { apart / scale };
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
        all.logits.extend(&part.logits);
        all.probabilities.extend(&part.probabilities);
        all.losses.extend(&part.losses);
        all.attention.extend(&part.attention);
    }
    all
}

/// How far the engines may be apart: gradients of each tensor relative to its own largest value, losses at each
/// step, and forward passes.
pub(crate) struct Bounds {
    gradient: f64,
    loss: f64,
    forward: f64,
}

/// Trains both and holds them to bounds: gradients and forward passes at the start, losses, final predictions.
pub(crate) fn compare(session: &Session, what: &str, steps: usize, bounds: &Bounds) {
    let experiment = &session.experiment;
    let train = &experiment.splits.train;
    let mut burn = BurnEngine::new(experiment, &session.device.device).unwrap();
    let mut fused = FusedEngine::new(experiment).unwrap();
    let batches: Vec<Vec<u32>> = (1..)
        .flat_map(|epoch| {
            experiment
                .batches(epoch)
                .iter()
                .map(<[u32]>::to_vec)
                .collect::<Vec<_>>()
        })
        .take(steps)
        .collect();
    compare_forward(session, what, bounds.forward);
    let (a, b) = (
        fused.gradient(train, &batches[0]),
        burn.gradient(train, &batches[0]),
    );
    let apart = gradients_apart(&a, &b);
    let worst = apart.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    println!("{what}: gradients {:.1e} ({})", worst.1, worst.0);
    assert!(worst.1 < bounds.gradient, "{what}: {worst:?}");
    // The largest tensors are held more tightly: relative to the largest value of all.
    let pairs = a.iter().zip(&b);
    let pairs = pairs.flat_map(|(a, b)| a.values.iter().zip(&b.values));
    let [apart, largest] = pairs.fold([0.0_f64; 2], |[apart, largest], (&a, &b)| {
        let (a, b) = (f64::from(a), f64::from(b));
        [apart.max((a - b).abs()), largest.max(b.abs())]
    });
    assert!(
        apart < bounds.gradient / 2.0 * largest,
        "{what}: {apart:e} of {largest:e}"
    );
    for (step, batch) in batches.iter().enumerate() {
        let rate = experiment.learning_rate(step);
        let (ours, theirs) = (
            fused.step(train, batch, rate),
            burn.step(train, batch, rate),
        );
        assert!(
            (ours - theirs).abs() < bounds.loss * theirs.max(1.0),
            "{what}, step {step}: {ours} beside {theirs}"
        );
        let norms = (fused.gradient_norm(), burn.gradient_norm());
        let (Some(ours), Some(theirs)) = norms else {
            assert_eq!(norms, (None, None), "{what}, step {step}");
            continue;
        };
        assert!(
            (ours - theirs).abs() < 10.0 * bounds.loss * theirs.max(1.0),
            "{what}, step {step}: norm {ours} beside {theirs}"
        );
    }
    let (ours, theirs) = (
        predictions(&mut fused, experiment),
        predictions(&mut burn, experiment),
    );
    let apart = [
        furthest(&ours.attention, &theirs.attention),
        furthest(&ours.probabilities, &theirs.probabilities),
        furthest(&ours.losses, &theirs.losses),
        furthest(&ours.logits, &theirs.logits),
    ];
    println!(
        "{what}: attention, probabilities, losses, logits {}",
        apart.map(|apart| format!("{apart:.1e}")).join(" ")
    );
    for (apart, factor) in apart.into_iter().zip([1.0, 1.0, 1.0, 10.0]) {
        assert!(apart < factor * bounds.loss, "{what}: {apart:e}");
    }
}

/// The arrays of both engines' dumps of the first samples, with the initial weights.
fn compare_forward(session: &Session, what: &str, bound: f64) {
    let experiment = &session.experiment;
    let of = |engine: EngineName| {
        let mut config = experiment.config.clone();
        config.compute.engine = engine;
        let model = Model {
            config: &config,
            parameters: &experiment.start,
        };
        let samples =
            session.training_samples((0..experiment.splits.train.len().min(21)).collect());
        dump(model, &samples, Origin::default(), &session.device).unwrap()
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
    for ((name, ours), (_, theirs)) in all(&ours).into_iter().zip(all(&theirs)) {
        assert_eq!(ours.len(), theirs.len(), "{what}: {name}");
        let wide = |values: &[f32]| {
            values
                .iter()
                .map(|&value| f64::from(value))
                .collect::<Vec<_>>()
        };
        let (ours, theirs) = (wide(&ours), wide(&theirs));
        let largest = theirs.iter().fold(1.0, |most, value| value.abs().max(most));
        let apart = furthest(&ours, &theirs) / largest;
        assert!(apart < bound, "{what}: {name}: {apart:e}");
    }
}

pub(crate) const TIGHT: Bounds = Bounds {
    gradient: 2e-6,
    loss: 2e-5,
    forward: 2e-6,
};

/// Rounding grows from block to block.
pub(crate) const DEEP: Bounds = Bounds {
    gradient: 5e-5,
    loss: 5e-4,
    forward: 1e-5,
};
