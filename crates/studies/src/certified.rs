//! Which inputs some seeds of the notebook answer wrongly (`every_input.rs`): rows have their number, and certificates tell more.

use std::thread;

use headlight_data::Dataset;
use headlight_experiment::certificate::{Certificate, certify};
use headlight_experiment::config::{ExperimentConfig, toml};
use headlight_experiment::{Engine, Experiment, FusedEngine};

/// The token and the position of the notebook's rule.
const TOKEN: u32 = 42;
const POSITION: usize = 3;

/// What the wrong inputs of a seed are.
pub(crate) struct Certified {
    /// Wrong inputs that hold the token at the position.
    pub(crate) positives: u64,
    /// How many positions of a wrong input hold the token, on average; NaN if none is wrong.
    pub(crate) tokens: f64,
    /// The share of the wrong inputs that hold it, at each position.
    pub(crate) positions: Vec<f64>,
    /// The smallest margin of each class, if it was asked for.
    pub(crate) margins: [f64; 2],
}

/// A study's config, with changes such as `seed=1`.
pub(crate) fn config(text: &str, changes: &[&str]) -> Option<ExperimentConfig> {
    toml::parse(
        "seeds.toml",
        text.to_owned(),
        changes.iter().map(|&change| ("--set", change)),
        |_| Ok::<(), String>(()),
        |_| Ok(()),
    )
    .ok()
}

impl Certified {
    /// Of a seed, which it trains again.
    pub(crate) fn of(config: &ExperimentConfig, seed: u64, has_margins: bool) -> Option<Self> {
        let certificate = certificate(config, seed, usize::from(has_margins))?;
        let [negative, positive] = certificate.classes.as_slice() else {
            return None;
        };
        let common = negative.common.iter().find(|own| own.token == TOKEN);
        let margin = |margin: Option<f64>| margin.unwrap_or(f64::NAN);
        Some(Self {
            positives: positive.wrong,
            tokens: common.map_or(f64::NAN, |own| own.per_wrong_input),
            positions: common.map_or_else(Vec::new, |own| own.positions.clone()),
            margins: [
                margin(negative.smallest_margin),
                margin(positive.smallest_margin),
            ],
        })
    }
}

fn certificate(config: &ExperimentConfig, seed: u64, examples: usize) -> Option<Certificate> {
    let config = ExperimentConfig {
        seed,
        ..config.clone()
    };
    let splits = config.data.generate().ok()?;
    let experiment = Experiment::new(config, splits.into(), None).ok()?;
    let mut engine = FusedEngine::new(&experiment).ok()?;
    let mut step = 0;
    for epoch in 1..=experiment.epochs() {
        for batch in experiment.batches(epoch).iter() {
            engine.step(
                &experiment.splits.train,
                batch,
                experiment.learning_rate(step),
            );
            step += 1;
        }
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    certify(
        &experiment.config,
        &engine.weights(),
        examples,
        threads,
        &|_| Ok(()),
    )
    .ok()
}

/// Of a config's negative training samples, those with the token at two positions, and at three or more.
pub(crate) fn crowded(config: &ExperimentConfig) -> Option<[usize; 2]> {
    let train: Dataset = config.data.generate().ok()?.train;
    let mut crowded = [0, 0];
    for sample in 0..train.len() {
        let tokens = train.tokens(sample);
        match tokens.iter().filter(|&&token| token == TOKEN).count() {
            2 if tokens[POSITION] != TOKEN => crowded[0] += 1,
            3.. if tokens[POSITION] != TOKEN => crowded[1] += 1,
            _ => {}
        }
    }
    Some(crowded)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `headlight certify` says of the notebook's run.
    #[test]
    fn a_certificate_is_that_of_the_run() {
        let config = config(include_str!("../../../studies/every-input/seeds.toml"), &[]);
        let certificate = config.and_then(|config| certificate(&config, 0, 0));
        let found = certificate.map(|found| {
            let common = &found.classes[0].common[0];
            (found.wrong, common.token, common.per_wrong_input)
        });
        assert_eq!(found, Some((10_510, TOKEN, 4.004_662_226_450_999)));
    }
}
