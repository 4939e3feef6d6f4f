//! What `headlight report --json` prints: the numbers of a summary, not rounded.

use std::collections::BTreeMap;

use headlight_experiment::metrics::wilson;
use serde::Serialize;
use serde_json::Value;

use super::columns::{EPOCHS, NEGATIVE, POSITIVE, compared};
use super::folds::{self, OverFolds};
use super::grid_map::{self, GridMap};
use super::groups::{Group, Looks};
use super::standouts::{self, StandOut};
use super::statistics::Sample;
use super::summary::{Reason, Summary};

/// A summary's numbers; `null` in JSON is a value that no run has.
#[derive(Serialize)]
pub struct Values<'a> {
    #[serde(flatten)]
    counts: Counts,
    /// The positions at which attention is measured; `null` where they differ between samples or points, or are unknown.
    positions_of_attention: Option<&'a [usize]>,
    /// Each quantity of the final models, by its field in the rows, and the attention to those positions.
    samples: BTreeMap<String, Option<Sample>>,
    /// The batch loss of each epoch. `[epoch]`
    epoch_loss: Vec<Option<Sample>>,
    /// The attention of `[CLS]` to each position. `[position]`
    attention_positive: Vec<Option<Sample>>,
    attention_negative: Vec<Option<Sample>>,
    /// By each compared key of the grid, then by point, if several keys are compared.
    groups: Vec<GroupValues<'a>>,
    /// Of each number that is compared, its values at each pair of two keys; empty unless two are compared.
    grids: Vec<GridMap<'a>>,
    /// Metrics over the folds, by the rest of the grid; empty without folds.
    folds: Vec<OverFolds<'a>>,
    stand_outs: Vec<StandOut<'a>>,
    failures: Vec<&'a Reason>,
}

/// Counts of runs, and the share that learned.
#[derive(Serialize)]
struct Counts {
    runs: usize,
    failed: usize,
    learned: usize,
    learned_share: f64,
    /// Wilson's 95% interval of the share.
    learned_interval: [f64; 2],
    /// The runs that look towards those positions, and away from them; `null` if that was not measured.
    looks_towards: Option<usize>,
    looks_away: Option<usize>,
}

/// The runs with these values of the grid's keys.
#[derive(Serialize)]
struct GroupValues<'a> {
    settings: BTreeMap<&'a str, Value>,
    #[serde(flatten)]
    counts: Counts,
    learned_at_step: Option<Sample>,
    #[serde(flatten)]
    metrics: BTreeMap<String, Option<Sample>>,
    attention: Option<Sample>,
}

impl Summary {
    /// Its numbers, for JSON.
    pub fn values(&self) -> Values<'_> {
        let columns = self.columns.all().map(|column| {
            let sample = Sample::of(column.values.iter().copied());
            (column.name.clone(), sample)
        });
        let targets = ["attention_of_positives", "attention_of_negatives"];
        let targets = targets
            .into_iter()
            .map(str::to_owned)
            .zip(&self.attention.paid)
            .map(|(name, values)| (name, Sample::of(values.iter().copied())));
        let list = |quantity| {
            self.columns
                .list(quantity)
                .iter()
                .map(|values| sample(values))
        };
        Values {
            counts: self.counts(self.runs(), self.failures(), self.learned(), self.looks()),
            positions_of_attention: self.target_positions(),
            samples: columns.chain(targets).collect(),
            epoch_loss: list(EPOCHS).collect(),
            attention_positive: list(POSITIVE).collect(),
            attention_negative: list(NEGATIVE).collect(),
            groups: self.group_values(),
            grids: grid_map::find(self),
            folds: folds::find(self),
            stand_outs: standouts::find(self),
            failures: self.reasons.values().collect(),
        }
    }

    fn counts(&self, runs: usize, failed: usize, learned: usize, looks: Looks) -> Counts {
        let is_known = self.knows_uniform();
        Counts {
            runs,
            failed,
            learned,
            learned_share: learned as f64 / runs as f64,
            learned_interval: wilson(learned, runs),
            looks_towards: is_known.then_some(looks.towards),
            looks_away: is_known.then_some(looks.away),
        }
    }

    fn group_values(&self) -> Vec<GroupValues<'_>> {
        let mut all = Vec::new();
        let names: Vec<String> = compared().map(|field| field.name.clone()).collect();
        let columns = self.compared().into_iter();
        let numbers: Vec<String> = columns.map(|column| column.name.clone()).collect();
        let mut add = |settings: BTreeMap<_, _>, group: Group| {
            all.push(GroupValues {
                settings,
                counts: self.counts(group.runs, group.failed, group.learned, group.looks),
                learned_at_step: group.steps,
                metrics: numbers
                    .iter()
                    .cloned()
                    .zip(group.compared)
                    .chain(names.iter().cloned().zip(group.metrics))
                    .filter(|(name, _)| name != "learned_at_step")
                    .collect(),
                attention: group.attention,
            });
        };
        for key in &self.by {
            let values = self.values_of(key);
            let groups = self.by_key(key, &values);
            for (value, group) in values.into_iter().zip(groups) {
                add(BTreeMap::from([(key.as_str(), value)]), group);
            }
        }
        if self.by.len() > 1 {
            let points = self.points.iter().filter(|point| point.runs > 0);
            for (point, group) in points.zip(self.by_point()) {
                let values = point.values.iter();
                let values = values.map(|(key, value)| (key.as_str(), value.clone()));
                add(values.collect(), group);
            }
        }
        all
    }
}

fn sample(values: &[f32]) -> Option<Sample> {
    Sample::of(values.iter().copied())
}
