//! The engine's margins beside those of float64, of random models.
#![allow(clippy::unwrap_used)]

#[path = "../../../tests/certificate/models.rs"]
mod models;

use super::{NEAR, difference, near};
use crate::certificate::answers::Answers;
use crate::certificate::passes::Passes;
use crate::certificate::tail::{Parameters, Tail};
use crate::config::{ExperimentConfig, toml};
use models::{Model, random};

/// Other inputs than those that set the distance: with twice their difference it would still be enough.
#[test]
fn the_engine_is_nearer_than_half_of_the_distance() {
    let (mut differences, mut wide) = (Vec::new(), 0);
    for seed in 0..400 {
        let Model {
            config,
            weights,
            text,
        } = random(seed, 30_000);
        let parameters = Parameters {
            config: &config,
            weights: &weights,
        };
        let (passes, tail) = (Passes::new(&parameters).unwrap(), Tail::new(&parameters));
        let mut answers = Answers::new(&config, &weights).unwrap();
        let near = near(&config, &passes, &tail, &mut answers).unwrap();
        wide += usize::from(near > NEAR);
        for seed in 1..5 {
            let found = difference(&config, &passes, &tail, &mut answers, seed).unwrap();
            assert!(found <= near / 2.0, "{text}: {found:e} of {near:e}");
            differences.push(found);
        }
    }
    differences.sort_by(f64::total_cmp);
    let [median, most] =
        [0.5, 1.0].map(|share| differences[((differences.len() - 1) as f64 * share) as usize]);
    println!(
        "differences: median {median:.1e}, largest {most:.1e}; {wide} of 400 models have a wider distance than {NEAR:e}"
    );
    assert!(wide < 60, "{wide}");
}
