//! The fused engine beside the Burn engine: gradients, forward passes with everything, every loss of whole
//! trajectories, predictions.
#![cfg(feature = "flex")]
#![allow(missing_docs, clippy::unwrap_used)]

mod architectures;
mod compare;
mod optimizers;
mod random;

use compare::{DEEP, TIGHT, compare, configs, session, session_of};
use headlight_experiment::config::TokenSecondMoment;
use headlight_experiment::{Engine, FusedEngine};

#[test]
fn the_notebook_takes_the_same_course_for_1500_steps() {
    compare(&session(&[]), "notebook", 1500, &TIGHT);
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
        compare(
            &session(&[sets, &[few]].concat()),
            &format!("{sets:?}"),
            20,
            &TIGHT,
        );
    }
}

/// Every committed config that trains on its own data, with fewer samples. A rectifier's input can be so near to 0 that the
/// engines round it to either side; then they part by more than rounding. With this seed none is.
#[test]
fn committed_configs_take_the_same_course() {
    let mut compared = 0;
    // Configs name their files from here.
    std::env::set_current_dir(configs().join("..")).unwrap();
    for entry in std::fs::read_dir(configs()).unwrap() {
        let path = entry.unwrap().path();
        let is_config = path
            .extension()
            .is_some_and(|extension| extension == "toml");
        if !is_config {
            continue;
        }
        let has_file = std::fs::read_to_string(&path).unwrap().contains("file = ");
        let few: &[&str] = if has_file {
            &["data.held_out=30000", "seed=1"]
        } else {
            &["data.samples=400", "data.held_out=0", "seed=1"]
        };
        let session = session_of(&path, few);
        compare(&session, &path.display().to_string(), 25, &DEEP);
        compared += 1;
    }
    assert!(compared >= 5);
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
            fused.step(&experiment.splits.train, batch, 1e-3);
        }
        (
            experiment.config.training.token_second_moment.value,
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
