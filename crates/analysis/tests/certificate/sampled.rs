//! Shares of wrong answers among random inputs.

use headlight_analysis::certificate::{SampleEstimate, sample};

use super::certified;
use super::models::{Model, random};

fn sampled(model: &Model, count: u64, seed: u64) -> SampleEstimate {
    sample(&model.config, &model.weights, count, seed, &|_| Ok(())).unwrap()
}

#[test]
fn a_seed_draws_the_same_inputs() {
    let model = random(2, 30_000);
    let first = sampled(&model, 3_000, 1);
    assert_eq!(first, sampled(&model, 3_000, 1));
    assert_ne!(first.wrong, sampled(&model, 3_000, 2).wrong);
}

/// The share of all inputs lies in nearly all intervals, and each interval is that of its counts.
#[test]
fn intervals_hold_the_share_of_all_inputs() {
    let (mut inside, mut all) = (0, 0);
    for seed in 0..20 {
        let model = random(seed, 5_000);
        let certificate = certified(&model, 1);
        for seed in 0..10 {
            let [low, high] = sampled(&model, 400, seed).interval;
            inside += usize::from((low..=high).contains(&certificate.share));
            all += 1;
        }
    }
    // At least 95 of 100, less three standard deviations of 200.
    assert!(inside * 100 >= all * 90, "{inside} of {all}");
}
