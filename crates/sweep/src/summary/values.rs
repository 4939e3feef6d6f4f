//! What `headlight report --json` prints: the numbers of a summary, not rounded.

use std::collections::BTreeMap;

use headlight_experiment::metrics::wilson;
use serde::Serialize;
use serde_json::{Map, Value};

use super::columns::{EPOCHS, NEGATIVE, POSITIVE};
use super::folds::{self, OverFolds};
use super::grid_map::{self, GridMap};
use super::groups::Group;
use super::standouts::{self, StandOut};
use super::statistics::Sample;
use super::summary::{Counts, Reason, Summary};

/// A summary's numbers; `null` in JSON is a value that no run has.
#[derive(Serialize)]
pub struct Values<'a> {
    #[serde(flatten)]
    counts: CountValues,
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
    groups: Vec<GroupValues>,
    /// Of each number that is compared, its values at each pair of two keys; empty unless two are compared.
    grids: Vec<GridMap<'a>>,
    /// Metrics over the folds, by the rest of the grid; empty without folds.
    folds: Vec<OverFolds>,
    stand_outs: Vec<StandOut<'a>>,
    failures: Vec<&'a Reason>,
}

/// Counts of runs, and the share that learned.
#[derive(Serialize)]
struct CountValues {
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
struct GroupValues {
    settings: Map<String, Value>,
    #[serde(flatten)]
    counts: CountValues,
    learned_at_step: Option<Sample>,
    #[serde(flatten)]
    metrics: BTreeMap<String, Option<Sample>>,
    attention: Option<Sample>,
}

impl Summary {
    /// Its numbers, for JSON.
    pub fn values(&self) -> Values<'_> {
        let all = |values: &[f64]| Sample::of(values.iter().copied());
        let columns = self.columns.all();
        let columns = columns.map(|column| (column.name.clone(), all(&column.values)));
        let targets = ["attention_of_positives", "attention_of_negatives"];
        let targets = targets.into_iter().map(str::to_owned);
        let targets = targets.zip(self.attention.paid.iter().map(|values| all(values)));
        let list = |quantity| {
            let list = self.columns.list(quantity).into_iter();
            list.map(|column| all(&column.values)).collect()
        };
        Values {
            counts: self.count_values(self.counts()),
            positions_of_attention: self.target_positions(),
            samples: columns.chain(targets).collect(),
            epoch_loss: list(EPOCHS),
            attention_positive: list(POSITIVE),
            attention_negative: list(NEGATIVE),
            groups: self.group_values(),
            grids: grid_map::find(self),
            folds: folds::find(self),
            stand_outs: standouts::find(self),
            failures: self.reasons.values().collect(),
        }
    }

    fn count_values(&self, counts: Counts) -> CountValues {
        let is_known = self.knows_uniform();
        CountValues {
            runs: counts.runs,
            failed: counts.failed,
            learned: counts.learned,
            learned_share: counts.learned as f64 / counts.runs as f64,
            learned_interval: wilson(counts.learned, counts.runs),
            looks_towards: is_known.then_some(counts.towards),
            looks_away: is_known.then_some(counts.away),
        }
    }

    fn group_values(&self) -> Vec<GroupValues> {
        let mut all = Vec::new();
        let mut add = |settings: Map<_, _>, group: Group<'_>| {
            let numbers = group.numbers.into_iter();
            let numbers = numbers.map(|(column, sample)| (column.name.clone(), sample));
            all.push(GroupValues {
                settings,
                counts: self.count_values(group.counts),
                learned_at_step: group.steps,
                metrics: numbers
                    .filter(|(name, _)| name != "learned_at_step")
                    .collect(),
                attention: group.attention,
            });
        };
        for key in &self.choices.by {
            let values = self.values_of(key);
            let groups = self.by_key(key, &values);
            for (value, group) in values.into_iter().zip(groups) {
                add(Map::from_iter([(key.clone(), value)]), group);
            }
        }
        if self.choices.by.len() > 1 {
            let points = self.points.iter().filter(|point| point.counts.runs > 0);
            for (point, group) in points.zip(self.by_point()) {
                add(point.values.clone(), group);
            }
        }
        all
    }
}
