//! The fused engine beside the Burn engine: gradients, every loss of whole trajectories, predictions.
#![cfg(feature = "flex")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::Path;

use headlight_architecture::Parameter;
use headlight_data::Batches;
use headlight_experiment::config::TokenSecondMoment;
use headlight_experiment::{Engine, Experiment, FusedEngine, Predictions};
use headlight_trainer::burn::BurnEngine;
use headlight_trainer::config;
use headlight_trainer::session::Session;

fn session(sets: &[&str]) -> Session {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/notebook.toml");
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    Session::open(config::load(&path, &sets).unwrap()).unwrap()
}

fn furthest(ours: &[f64], theirs: &[f64]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    let pairs = ours.iter().zip(theirs);
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The largest difference of each gradient tensor, relative to its own largest value.
///
/// A key bias shifts all scores of a query alike, so its gradient is 0 but for rounding: it is held to the
/// scale of the query bias.
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
            (ours.name.clone(), apart.fold(0.0, f64::max) / scale)
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

/// Trains both and holds them to bounds: of gradients at the start, of losses, of final predictions.
fn compare(sets: &[&str], steps: usize, bound: f64) {
    let session = session(sets);
    let experiment = &session.experiment;
    let train = &experiment.splits.train;
    let mut burn = BurnEngine::new(experiment, &session.device.device).unwrap();
    let mut fused = FusedEngine::new(experiment).unwrap();
    let batches: Vec<Vec<u32>> = (1..=experiment.config.training.epochs)
        .flat_map(|epoch| {
            experiment
                .batches(epoch)
                .iter()
                .map(<[u32]>::to_vec)
                .collect::<Vec<_>>()
        })
        .take(steps)
        .collect();
    assert_eq!(batches.len(), steps);
    let (a, b) = (
        fused.gradient(train, &batches[0]),
        burn.gradient(train, &batches[0]),
    );
    let apart = gradients_apart(&a, &b);
    let worst = apart.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    println!("{sets:?}: gradients {:.1e} ({})", worst.1, worst.0);
    assert!(worst.1 < 2e-6, "{sets:?}: {worst:?}");
    // The largest tensors are held more tightly: to 1e-6 of the largest value of all.
    let pairs = a.iter().zip(&b);
    let pairs = pairs.flat_map(|(a, b)| a.values.iter().zip(&b.values));
    let [apart, largest] = pairs.fold([0.0_f64; 2], |[apart, largest], (&a, &b)| {
        let (a, b) = (f64::from(a), f64::from(b));
        [apart.max((a - b).abs()), largest.max(b.abs())]
    });
    assert!(apart < 1e-6 * largest, "{sets:?}: {apart:e} of {largest:e}");
    for (step, batch) in batches.iter().enumerate() {
        let (ours, theirs) = (fused.step(train, batch), burn.step(train, batch));
        assert!(
            (ours - theirs).abs() < bound,
            "{sets:?}, step {step}: {ours} beside {theirs}"
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
        "{sets:?}: attention, probabilities, losses, logits {}",
        apart.map(|apart| format!("{apart:.1e}")).join(" ")
    );
    for (apart, bound) in apart.into_iter().zip([bound, bound, bound, 10.0 * bound]) {
        assert!(apart < bound, "{sets:?}: {apart:e}");
    }
}

#[test]
fn the_notebook_takes_the_same_course_for_1500_steps() {
    compare(&[], 1500, 1e-5);
}

/// Sizes that are common and sizes that are not, heads, batches with a remainder, other settings of
/// Adam.
#[test]
fn other_configs_take_the_same_course() {
    let few = "data.samples=1000";
    for sets in [
        &["model.d_model=4"][..],
        &["model.d_model=16", "training.batch_size=7"],
        &["model.d_model=32", "training.batch_size=50"],
        &["model.d_model=6", "training.batch_size=1"],
        &["model.d_model=12", "model.n_heads=3"],
        &[
            "model.d_model=8",
            "model.n_heads=4",
            "training.batch_size=33",
        ],
        &["model.d_model=40", "model.n_heads=5", "data.seq_len=3"],
        &[
            "data.seq_len=30",
            "data.vocab_size=200",
            "training.batch_size=17",
        ],
        &[
            "data.vocab_size=43",
            "training.token_second_moment=per-token",
        ],
        &[
            "training.beta_1=0.8",
            "training.beta_2=0.99",
            "training.epsilon=1e-3",
            "training.learning_rate=1e-2",
        ],
        &["model.layer_norm_eps=1e-3", "seed=99"],
        &[
            "model.attention.scale=false",
            "model.attention.temperature=0.5",
        ],
        &["model.attention.scale=0.2", "model.n_heads=2"],
    ] {
        compare(&[sets, &[few]].concat(), 20, 2e-5);
    }
}

#[test]
fn tokens_are_squared_as_the_config_says() {
    let of = |moment: &str| {
        let set = format!("training.token_second_moment={moment}");
        let session = session(&[&set]);
        let experiment = &session.experiment;
        let mut fused = FusedEngine::new(experiment).unwrap();
        let batches = experiment.batches(1);
        for batch in batches.iter().take(20) {
            fused.step(&experiment.splits.train, batch);
        }
        (
            experiment.config.training.token_second_moment,
            fused.parameters(),
        )
    };
    let (per_token, a) = of("per-token");
    let (per_occurrence, b) = of("per-occurrence");
    assert_eq!(
        (per_token, per_occurrence),
        (
            TokenSecondMoment::PerToken,
            TokenSecondMoment::PerOccurrence
        )
    );
    assert_ne!(a, b);
}
