//! The engine's margins beside those of float64, of random models.
#![allow(clippy::unwrap_used)]

#[path = "../../../tests/certificate/models.rs"]
mod models;

use super::{NEAR, RoundingBound, differences};
use crate::certificate::answers::Answers;
use crate::certificate::check::{check, tokens};
use crate::certificate::logits::Logits;
use crate::certificate::progress::Progress;
use crate::certificate::search::Search;
use headlight_experiment::config::{ExperimentConfig, toml};
use models::random;

/// Other inputs than those that set the distance: with twice their difference it would still be enough.
#[test]
fn the_engine_is_nearer_than_half_of_the_distance() {
    let (mut compared, mut wide) = (0, 0);
    for seed in 0..4_000 {
        let model = random(seed, 30_000);
        let (config, weights) = (&model.config, &model.weights);
        let Some(logits) = Logits::new(config, weights) else {
            continue;
        };
        let tokens = tokens(config);
        let search = Search {
            config,
            rule: check(config).unwrap(),
            labels: None,
            tokens: &tokens,
            answers: &Answers::new(config, weights).unwrap(),
            examples: 0,
            threads: 1,
            progress: &Progress::new(1, &|_| Ok(())),
        };
        let near = RoundingBound::new(&search, weights, &logits).unwrap();
        compared += 1;
        wide += usize::from(near.scaled > NEAR);
        for seed in 1..5 {
            let found = differences(&search, weights, &logits, seed).unwrap();
            for (difference, inverse) in found {
                let near = near.at(inverse);
                assert!(
                    difference <= near / 2.0,
                    "{}: {difference:e} of {near:e}",
                    model.text
                );
            }
        }
    }
    println!("in {wide} of {compared} models the measured part is above {NEAR:e}");
    assert!(compared > 1000);
}
