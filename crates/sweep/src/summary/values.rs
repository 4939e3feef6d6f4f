//! What `headlight report --json` prints: the numbers of a summary, not rounded.

use std::collections::BTreeMap;

use serde::Serialize;

use super::columns::{ATTENTION_NEGATIVE, ATTENTION_POSITIVE, EPOCH_LOSS};
use super::folds::{self, OverFolds};
use super::grid_map::{self, GridMap};
use super::groups::Group;
use super::standouts::{self, StandOut};
use super::statistics::Stats;
use super::summary::{Counts, Reason, Summary};

/// A summary's numbers; `null` in JSON is a value that no run has.
#[derive(Serialize)]
pub struct Values<'a> {
    #[serde(flatten)]
    counts: Counts,
    /// The positions at which attention is measured; `null` where they differ between samples or points, or are unknown.
    positions_of_attention: Option<&'a [usize]>,
    /// Each quantity of the final models, by its field in the rows, and the attention to those positions.
    samples: BTreeMap<String, Option<Stats>>,
    /// The batch loss of each epoch. `[epoch]`
    epoch_loss: Vec<Option<Stats>>,
    /// The attention of the readout position to each position. `[position]`
    attention_positive: Vec<Option<Stats>>,
    attention_negative: Vec<Option<Stats>>,
    /// By each compared key of the grid, then by point, if several keys are compared.
    groups: Vec<Group<'a>>,
    /// Of each number that is compared, its values at each pair of two keys; empty unless two are compared.
    grids: Vec<GridMap<'a>>,
    /// Metrics over the folds, by the rest of the grid; empty without folds.
    folds: Vec<OverFolds>,
    stand_outs: Vec<StandOut<'a>>,
    failures: Vec<&'a Reason>,
}

impl Summary {
    /// Its numbers, for JSON.
    pub fn values(&self) -> Values<'_> {
        let all = |values: &[f64]| self.stats(values, 0..values.len());
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
            counts: self.counts(),
            positions_of_attention: self.target_positions(),
            samples: columns.chain(targets).collect(),
            epoch_loss: list(EPOCH_LOSS),
            attention_positive: list(ATTENTION_POSITIVE),
            attention_negative: list(ATTENTION_NEGATIVE),
            groups: self.all_groups(),
            grids: grid_map::find(self),
            folds: folds::find(self),
            stand_outs: standouts::find(self),
            failures: self.reasons.values().collect(),
        }
    }
}
