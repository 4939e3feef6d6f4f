//! Bounds of regions beside what the engine answers to inputs in them, of random models.
#![allow(clippy::unwrap_used)]

#[path = "../../tests/certificate/models.rs"]
mod models;

use super::super::attention::Attention;
use super::super::check::tokens;
use super::super::parameters::Parameters;
use super::super::search::{Sets, divided};
use super::{Bounds, Reading};
use crate::config::{ExperimentConfig, toml};
use crate::fused_architecture::architecture;
use headlight_fused::{Predictions, Samples};
use models::{Dice, Model, random};

/// Inputs of a region that are asked about, if it has more.
const ASKED: usize = 48;

/// A model that reads a token, with the engine that answers.
struct Asked<'a> {
    model: &'a Model,
    reading: Reading,
    first: Vec<u32>,
    engine: headlight_fused::Model,
}

impl<'a> Asked<'a> {
    fn new(model: &'a Model, own: usize) -> Self {
        let Model {
            config, weights, ..
        } = model;
        let tokens = tokens(config);
        let parameters = Parameters::new(config, weights);
        let own = tokens[config.inputs().read_position].start + own as u32;
        let reading = Reading {
            attention: Attention::new(&parameters, &tokens, own),
            tail: parameters.tail(),
            classes: config.data.n_classes,
        };
        let engine = headlight_fused::Model::new(
            &architecture(config).unwrap(),
            config.training.fused(),
            weights,
        );
        Self {
            model,
            reading,
            first: tokens.iter().map(|tokens| tokens.start).collect(),
            engine,
        }
    }

    /// What the engine answers to samples whose tokens count from the first. `[sample][class]`
    fn engine(&mut self, samples: &[Vec<u32>]) -> Vec<Vec<f64>> {
        let absolute = samples
            .iter()
            .flat_map(|sample| sample.iter().zip(&self.first));
        let tokens: Vec<u32> = absolute.map(|(token, first)| token + first).collect();
        let chosen: Vec<u32> = (0..samples.len() as u32).collect();
        let labels = vec![0; samples.len()];
        let mut predictions = Predictions::default();
        let samples = Samples {
            tokens: &tokens,
            labels: &labels,
        };
        self.engine.predict(samples, &chosen, &mut predictions);
        let logits: Vec<f64> = predictions
            .logits
            .iter()
            .map(|&logit| f64::from(logit))
            .collect();
        let count = logits.len() / chosen.len();
        logits.chunks_exact(count).map(by_class).collect()
    }

    /// Bounds a region, and checks them on some of its inputs, or on all if they are few.
    fn check(&mut self, sets: &Sets, dice: &mut Dice, bounds: &mut Bounds, loose: &mut Looseness) {
        let get = |position: usize| &sets[position][..];
        self.reading.bound(&get, bounds);
        let size: usize = sets.iter().map(|set| set.len()).product();
        let samples: Vec<Vec<u32>> = if size <= ASKED {
            let pick = |mut index: usize| {
                let mut own = Vec::new();
                for set in sets {
                    own.push(set[index % set.len()]);
                    index /= set.len();
                }
                own
            };
            (0..size).map(pick).collect()
        } else {
            let mut pick = || sets.iter().map(|set| dice.one_of(set)).collect();
            (0..ASKED).map(|_| pick()).collect()
        };
        let answers = self.engine(&samples);
        let classes = self.reading.classes;
        let text = &self.model.text;
        let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); classes];
        let mut off = 0.0_f64;
        for (sample, found) in samples.iter().zip(&answers) {
            let exact = self.reading.logits(sample, &mut bounds.scratch).to_vec();
            let exact = by_class(&exact);
            for a in 0..classes {
                let lead = found[bounds.class] - found[a];
                let kept = bounds.leads[a];
                assert!(
                    kept.least <= lead && lead <= kept.largest,
                    "{text}\n{sets:?} {sample:?}: class {a} has lead {lead}, not {kept:?}"
                );
                let others = (0..classes)
                    .filter(|&class| class != a)
                    .map(|class| found[class]);
                let margin = found[a] - others.fold(f64::NEG_INFINITY, f64::max);
                let least = bounds.least_margin(a);
                assert!(
                    least <= margin,
                    "{text}\n{sets:?} {sample:?}: margin {margin} of {a} is below {least}"
                );
                ranges[a] = (ranges[a].0.min(lead), ranges[a].1.max(lead));
                for b in 0..a {
                    let difference = (found[a] - found[b] - (exact[a] - exact[b])).abs();
                    off = off.max(difference);
                    assert!(
                        difference <= bounds.error,
                        "{text}\n{sets:?} {sample:?}: the engine is off by {difference}, more than {}",
                        bounds.error
                    );
                }
            }
        }
        if off > 0.0 && size == 1 {
            loose.errors.push(bounds.error / off);
        }
        for (class, (low, high)) in ranges.into_iter().enumerate() {
            if class != bounds.class && high - low > 1e-3 && size <= ASKED {
                let kept = bounds.leads[class];
                loose.leads.push((kept.largest - kept.least) / (high - low));
            }
        }
    }
}

/// How many times as wide bounds are as what is found.
#[derive(Default)]
struct Looseness {
    /// Of leads, where all inputs of a region are looked at, and of the engine's errors, where there is one input.
    leads: Vec<f64>,
    errors: Vec<f64>,
}

fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share) as usize]
}

#[test]
fn bounds_hold_for_what_the_engine_answers() {
    let mut loose = Looseness::default();
    let mut bounds = Bounds::default();
    for seed in 0..400 {
        let model = random(seed, 100_000);
        let mut dice = Dice::new(1_000_000 + seed);
        let counts: Vec<usize> = tokens(&model.config)
            .iter()
            .map(ExactSizeIterator::len)
            .collect();
        let read = model.config.inputs().read_position;
        for _ in 0..3 {
            let own = dice.below(counts[read]);
            let mut asked = Asked::new(&model, own);
            for _ in 0..6 {
                // Any region.
                let mut any = |count: usize| {
                    let share = 1 + dice.below(4);
                    let mut set: Vec<u32> = (0..count as u32)
                        .filter(|_| dice.below(4) < share)
                        .collect();
                    if set.is_empty() {
                        set.push(dice.below(count) as u32);
                    }
                    set
                };
                let mut sets: Sets = counts.iter().map(|&count| any(count).into()).collect();
                sets[read] = [own as u32].into();
                asked.check(&sets, &mut dice, &mut bounds, &mut loose);
                // Those that a search meets.
                let mut sets: Sets = counts
                    .iter()
                    .map(|&count| (0..count as u32).collect())
                    .collect();
                sets[read] = [own as u32].into();
                while sets.iter().any(|set| set.len() > 1) {
                    asked.check(&sets, &mut dice, &mut bounds, &mut loose);
                    let (position, halves) = divided(&bounds, |position| &sets[position]);
                    sets[position] = halves[dice.below(2)].clone();
                }
                asked.check(&sets, &mut dice, &mut bounds, &mut loose);
            }
        }
    }
    for (name, values) in [("leads", &mut loose.leads), ("errors", &mut loose.errors)] {
        let [least, median, most] = [0.0, 0.5, 0.95].map(|share| quantile(values, share));
        println!(
            "{name}: {} bounds are {least:.3} to {most:.3} times as wide, median {median:.3}",
            values.len()
        );
    }
}

/// A number for each class, whose differences count.
fn by_class(logits: &[f64]) -> Vec<f64> {
    match logits {
        [one] => vec![0.0, *one],
        _ => logits.to_vec(),
    }
}
