//! Which inputs some seeds of the notebook answer wrongly (`every_input.rs`): rows have their number, and certificates tell more.

use std::thread;

use headlight_data::Dataset;
use headlight_experiment::certificate::{Certificate, certify};
use headlight_experiment::config::{ExperimentConfig, toml};
use headlight_experiment::{Engine, Experiment, FusedEngine};
use headlight_inspector::Table;

use crate::page::table;
use crate::rows::Rows;
use crate::statistics::{median, quantile};

/// The token and the position of the notebook's rule.
const TOKEN: u32 = 42;
const POSITION: usize = 3;

/// Seeds that are trained again for their certificates; and those of them whose smallest margins are searched for, which takes longer.
const CERTIFIED: usize = 100;
const WITH_MARGINS: usize = 10;

/// What the wrong inputs of a seed are.
struct Certified {
    /// Wrong inputs that hold the token at the position.
    positives: u64,
    /// How many positions of a wrong input hold the token, on average; NaN if none is wrong.
    tokens: f64,
    /// The share of the wrong inputs that hold it, at each position.
    positions: Vec<f64>,
    /// The smallest margin of each class, if it was asked for.
    margins: [f64; 2],
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
    fn of(config: &ExperimentConfig, seed: u64, has_margins: bool) -> Option<Self> {
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

/// What the wrong inputs of some seeds are: the first ones, and those that look away.
pub(crate) fn which(
    config: &ExperimentConfig,
    rows: &Rows,
    is_away: &[bool],
) -> (Vec<String>, Table) {
    let seeds: Vec<u64> = rows.seeds().collect();
    let certified = |accepts: &dyn Fn(usize) -> bool| -> Vec<Certified> {
        let seeds = seeds.iter().enumerate().filter(|(run, _)| accepts(*run));
        let found =
            seeds.filter_map(|(run, &seed)| Certified::of(config, seed, run < WITH_MARGINS));
        found.collect()
    };
    let groups = [
        (
            "look there",
            certified(&|run| run < CERTIFIED && !is_away[run]),
        ),
        ("look away", certified(&|run| is_away[run])),
    ];
    let all = || groups.iter().flat_map(|(_, own)| own);
    let tokens: Vec<f64> = all().map(|own| own.tokens).collect();
    let positives = all().filter(|own| own.positives > 0).count();
    let margins = [0, 1].map(|class| -> Vec<f64> {
        let known = all().map(|own| own.margins[class]);
        known.filter(|margin| margin.is_finite()).collect()
    });
    let ranges = margins.each_ref().map(|own| {
        let [low, middle, high] = [0.0, 0.5, 1.0].map(|share| quantile(own, share));
        format!("{middle:.1} in the median ({low:.1} to {high:.1})")
    });
    let findings = vec![
        format!(
            "The wrong inputs are those that are crowded with token 42, but not at position 3. Of {} seeds that were looked into, {} \
             wrong on an input with token 42 there. A wrong input holds token 42 at {:.2} of the five other positions in the median seed ({:.2} to {:.2} over seeds), \
             and a random input at 0.10.",
            tokens.len(),
            match positives {
                0 => "none is".to_owned(),
                1 => "1 is".to_owned(),
                more => format!("{more} are"),
            },
            median(&tokens),
            quantile(&tokens, 0.0),
            quantile(&tokens, 1.0),
        ),
        format!(
            "The smallest margin of a negative input is {}, that of a positive one {} ({} seeds; log-odds of the label, wrong below 0).",
            ranges[0],
            ranges[1],
            margins[0].len(),
        ),
    ];
    let header = [
        "seeds",
        "number",
        "tokens 42",
        "position 1",
        "position 2",
        "position 4",
        "position 5",
        "position 6",
    ];
    let lines = groups.iter().map(|(name, own)| {
        let range = |values: Vec<f64>| {
            let [low, middle, high] = [0.05, 0.5, 0.95].map(|share| quantile(&values, share));
            format!("{middle:.2} ({low:.2} to {high:.2})")
        };
        let mut cells = vec![(*name).to_owned(), own.len().to_string()];
        cells.push(range(own.iter().map(|own| own.tokens).collect()));
        cells.extend([1, 2, 4, 5, 6].map(|position| {
            let shares = own.iter().filter_map(|own| own.positions.get(position));
            range(shares.copied().collect())
        }));
        cells
    });
    let table = table(
        "What wrong inputs hold",
        "tokens 42 per wrong negative input, and the share of those that hold it at a position: median (5th to 95th percentile over seeds with a \
         wrong input)",
        &header,
        lines,
    );
    (findings, table)
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
