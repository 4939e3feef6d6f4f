//! How much of a count the bounds decide.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use headlight_analysis::certificate::certify;
use headlight_architecture::NormPlace::Post;
use headlight_experiment::{Engine, Experiment, FusedEngine};

use super::models::random;
use super::{certified, toml};

/// When this was written, the engine computed all inputs of 13 models, whose scores are too far apart for bounds, and 5,832 of 214,819
/// inputs of the others: all but 6 of one model, some of whose queries have such scores.
const MOST_ENUMERATED: usize = 13;
const MOST_COMPUTED: u64 = 5_832;

/// Bounds that are too loose are no error in a count: the engine then computes what they leave open. Where there are no bounds, it
/// computes all.
#[test]
fn the_engine_computes_few_inputs() {
    let (mut enumerated, mut computed, mut all) = (0, 0, 0);
    for seed in 0..100 {
        let model = random(seed, 30_000);
        let own = &model.config.model;
        let certificate = certified(&model, 1);
        let is_enumerated = certificate.computed == certificate.inputs;
        let norms = u8::from(own.norm == Post) + u8::from(own.has_final_norm());
        if own.d_ff + own.classifier_hidden > 0 || norms > 1 {
            assert!(is_enumerated, "{}", model.text);
        } else if is_enumerated {
            enumerated += 1;
        } else {
            computed += certificate.computed;
            all += certificate.inputs;
        }
    }
    assert!(enumerated <= MOST_ENUMERATED, "{enumerated} models");
    assert!(computed <= MOST_COMPUTED, "{computed} of {all}");
    assert!(all > 200_000, "{all}");
}

/// No position decides alone, and no token but one: regions of many tokens make a count of 15.6 billion inputs short. One token at a time
/// took minutes.
#[test]
fn a_rule_for_which_all_positions_matter_alike_is_counted_soon() {
    let text = include_str!("../../../../configs/token_anywhere.toml").to_owned();
    let none = std::iter::empty::<(&str, &str)>();
    let config = toml::parse("token_anywhere", &text, none, |_| Ok(()), |_| Ok(())).unwrap();
    let splits = Arc::new(config.data.generate().unwrap());
    let experiment = Experiment::new(config, splits, None).unwrap();
    let mut engine = FusedEngine::new(&experiment).unwrap();
    for epoch in 1..=experiment.epochs() {
        for batch in experiment.batches(epoch).iter() {
            engine.step(&experiment.splits.train, batch, 1e-3);
        }
    }
    let start = Instant::now();
    let found = certify(&experiment.config, &engine.weights(), 10, 2, &|_| Ok(())).unwrap();
    let took = start.elapsed();
    assert!(took < Duration::from_mins(1), "{took:?}");
    assert_eq!((found.inputs, found.wrong), (50_u64.pow(6), 0));
    assert_eq!(found.classes[0].inputs, 49_u64.pow(6));
    assert!(found.classes.iter().all(|class| class.worst.len() == 10));
}

/// Seeds of models, and how often a search divides a region of their inputs. With bounds that are looser it does so more often.
const STEPS: [(u64, usize); 4] = [(131, 46), (263, 8), (299, 36), (301, 16)];

#[test]
fn a_search_takes_few_steps() {
    for (seed, most) in STEPS {
        let model = random(seed, 3_000);
        let steps = || {
            let looks = AtomicUsize::new(0);
            let watch = |_| {
                looks.fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            certify(&model.config, &model.weights, 3, 1, &watch).unwrap();
            looks.into_inner()
        };
        // Each step looks once, and so does the thread that waits, after 100 ms.
        let least = (0..3).map(|_| steps()).min();
        assert!(least <= Some(most), "seed {seed}: {least:?} steps");
    }
}
