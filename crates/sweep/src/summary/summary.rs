//! Reads a results file into counts, and the numbers of each run that did not fail.

use std::collections::BTreeMap;
use std::path::Path;

use headlight_experiment::config::LEARNED as LEARNED_FROM;
use headlight_experiment::metrics::Metric;
use headlight_experiment::outcome::is_learned;
use headlight_trainer::Failure;
use headlight_trainer::storage::standard::shown;
use serde::Serialize;
use serde_json::{Map, Value};

use super::about::About;
use super::attention_target::{AttentionTarget, TargetAttention};
use super::columns::{Column, Columns, EPOCHS, LEARNED, field_of};
use crate::fields::Quantity;
use crate::grid::FOLD;
use crate::origin::Origin;
use crate::results::Rows;
use crate::stored_row::StoredRow;

/// The most reasons of failure that are counted separately.
const REASON_LIMIT: usize = 1000;

/// The longest reason that is shown, in characters.
const REASON_LENGTH: usize = 120;

/// The summary of a results file: counts, and the numbers of each run that did not fail.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The points of the grid, by index; a point without rows has no runs.
    pub(super) points: Vec<Point>,
    pub(super) columns: Columns,
    /// The reasons of failure, by message without numbers.
    pub(super) reasons: BTreeMap<String, Reason>,
    /// The F1 from which a model counts as learned.
    pub(super) learned_from: f64,
    /// Runs whose model had learned at a step, and not at the end.
    pub(super) lost: usize,
    /// Runs whose F1 is high because the model predicts one frequent class for all samples.
    pub(super) of_one_class: usize,
    /// The positions at which attention is measured.
    pub(super) target: AttentionTarget,
    /// The attention of each run to the target.
    pub(super) attention: TargetAttention,
    /// Whether some row holds its attention on the positions that decide.
    pub(super) holds_deciding: bool,
    /// What the config beside the file says of its runs.
    pub(super) about: About,
    /// The grid's keys that the tables and plots compare.
    pub(super) by: Vec<String>,
    /// The numbers that they compare, by their columns in CSV; if empty, F1 and what configs ask for.
    pub(super) metrics: Vec<String>,
}

/// A point of the grid.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    /// The grid's keys and their values; empty without a grid.
    pub(super) values: Vec<(String, Value)>,
    pub(super) runs: usize,
    pub(super) failed: usize,
    pub(super) learned: usize,
}

/// A reason of failure.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Reason {
    /// The message and the seed of the first such run.
    pub(super) message: String,
    #[serde(rename = "first_seed")]
    pub(super) seed: u64,
    pub(super) runs: usize,
}

impl Summary {
    /// Reads a results file in one pass. A run learned if [`is_learned`] says so of its final model, for `learned_from` or else for
    /// `report.learned` of the config beside the file. Compares the values of the keys in `by`; if it is empty, of each key that
    /// varies.
    ///
    /// # Errors
    /// When the file cannot be read, is not a results file, or lacks one of the keys.
    pub fn of(
        path: &Path,
        target: AttentionTarget,
        by: &[String],
        learned_from: Option<f64>,
    ) -> Result<Self, Failure> {
        let mut summary = Self {
            points: Vec::new(),
            columns: Columns::new(),
            reasons: BTreeMap::new(),
            learned_from: learned_from.unwrap_or(LEARNED_FROM),
            lost: 0,
            of_one_class: 0,
            target,
            attention: TargetAttention::default(),
            holds_deciding: false,
            about: About::unknown(),
            by: Vec::new(),
            metrics: Vec::new(),
        };
        let mut rows = Rows::open(path)?;
        let (mut last, mut origin) = (None, None);
        let wanted = |key: &str| key == "error" || key.contains('.') || Columns::keeps(key);
        while let Some(line) = rows.next(wanted)? {
            if last.is_none() {
                origin = Origin::of(path, &line.config_sha256);
                let config = origin.as_ref().and_then(|origin| origin.config(&[]).ok());
                let own = config.map(|config| config.report.learned);
                summary.learned_from = learned_from.or(own).unwrap_or(LEARNED_FROM);
            }
            let place = Some((line.seed, line.point));
            if place <= last {
                return Err(rows.invalid_row(&format!(
                    "seed {} appears twice or out of order; fix the file with `headlight merge {} --out FILE.jsonl`",
                    line.seed,
                    shown(path)
                )));
            }
            last = place;
            summary
                .add(line)
                .map_err(|reason| rows.invalid_row(&reason))?;
        }
        if rows.count == 0 {
            return Err(Failure::reading(
                path,
                "the file holds no rows; name a .jsonl file of `headlight sweep` or `headlight merge`",
            ));
        }
        if let Some(origin) = &origin {
            summary.about = summary.about_of(origin);
        }
        summary.measure(&shown(path))?;
        summary.by = summary.keys(path, by)?;
        Ok(summary)
    }

    fn add(&mut self, mut line: StoredRow) -> Result<(), String> {
        let number = line.point.unwrap_or(0);
        if self.points.len() <= number {
            self.points.resize(number + 1, Point::default());
        }
        let point = &mut self.points[number];
        let values = line.fields.iter().filter(|(key, _)| key.contains('.'));
        if point.runs == 0 {
            point.values = values
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
        } else if !values.eq(point.values.iter().map(|(key, value)| (key, value))) {
            return Err(format!(
                "its values of the grid's keys differ from those of earlier rows of point {number}"
            ));
        }
        point.runs += 1;
        self.holds_deciding |= holds_deciding(&line.fields);
        if let Some(error) = line.fields.get("error") {
            point.failed += 1;
            self.fail(line.seed, error.as_str().unwrap_or("(no message)"));
            return Ok(());
        }
        let ending = ending(&line.fields, self.learned_from);
        if ending == Ending::Learned {
            point.learned += 1;
        } else {
            let step = line.fields.remove("learned_at_step");
            let had_learned = step.is_some_and(|step| step.is_number());
            self.of_one_class += usize::from(ending == Ending::OneClass);
            self.lost += usize::from(ending == Ending::NotLearned && had_learned);
        }
        self.columns.push(number, line.seed, &line.fields)
    }

    fn fail(&mut self, seed: u64, message: &str) {
        // Failures at different steps have the same reason: only the first clause of the message counts,
        // without its numbers.
        let message = message.split(';').next().unwrap_or_default();
        let parts = message.split(|letter: char| letter.is_ascii_digit());
        let mut key = parts
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("#");
        let mut shown: String = message.chars().take(REASON_LENGTH).collect();
        if self.reasons.len() >= REASON_LIMIT && !self.reasons.contains_key(&key) {
            "\u{10ffff}".clone_into(&mut key);
            "other reasons".clone_into(&mut shown);
        }
        let reason = self.reasons.entry(key).or_insert(Reason {
            message: shown,
            seed,
            runs: 0,
        });
        reason.runs += 1;
    }

    /// What the config beside the file says. One that can no longer be read, as when its dataset file is gone, says nothing.
    fn about_of(&self, origin: &Origin) -> About {
        let keys = self.points.iter().flat_map(|point| &point.values);
        // Otherwise, all that is asked of a config is the same at all points.
        let varies = |(key, _): &(String, Value)| {
            key.starts_with("data.") && key != FOLD
                || key == "model.pooling"
                || key.starts_with("model.attention.")
        };
        let points = if keys.into_iter().any(varies) {
            &self.points[..]
        } else {
            &self.points[..1]
        };
        let configs = points.iter().map(|point| origin.config(&point.values));
        let configs: Result<Vec<_>, _> = configs.collect();
        configs.map_or_else(|_| About::unknown(), |configs| About::of(&configs))
    }

    /// Compares these numbers of rows between settings, by the names of their columns in CSV, in place of F1 and what configs
    /// ask for.
    ///
    /// # Errors
    /// When no row has a number of such a name. Names those that there are.
    pub fn comparing(mut self, path: &Path, metrics: &[String]) -> Result<Self, Failure> {
        let names: Vec<&str> = self.known().map(|column| &*column.name).collect();
        if let Some(unknown) = metrics.iter().find(|name| !names.contains(&&***name)) {
            return Err(Failure::Input(format!(
                "--metric {unknown}: the rows of {} have no such number; they have {}",
                shown(path),
                names.join(", ")
            )));
        }
        metrics.clone_into(&mut self.metrics);
        Ok(self)
    }

    /// All numbers that some row has.
    pub(super) fn known(&self) -> impl Iterator<Item = &Column> {
        let known = |column: &&Column| column.values.iter().any(|value| value.is_finite());
        self.columns.all().filter(known)
    }

    /// The numbers that are compared between settings.
    pub(super) fn compared(&self) -> Vec<&Column> {
        if self.metrics.is_empty() {
            let f1 = |held_out| {
                let metric = Metric::F1;
                Quantity::Metric { metric, held_out }
            };
            let is_held_out = self.known().any(|column| column.quantity == f1(true));
            let of_fields = f1(is_held_out);
            let is_compared = |column: &&Column| column.is_compared || column.quantity == of_fields;
            return self.known().filter(is_compared).collect();
        }
        let named = |name: &String| self.known().find(|column| column.name == *name);
        self.metrics.iter().filter_map(named).collect()
    }

    /// The keys that the user named, or all keys that vary.
    fn keys(&self, path: &Path, by: &[String]) -> Result<Vec<String>, Failure> {
        let mut present: Vec<&str> = Vec::new();
        for (key, _) in self.points.iter().flat_map(|point| &point.values) {
            // A grid has few keys, and all its points have the same keys.
            if !present.contains(&key.as_str()) && present.len() < 64 {
                present.push(key);
            }
        }
        if let Some(unknown) = by.iter().find(|key| !present.contains(&key.as_str())) {
            let known = match present.as_slice() {
                [] => "the sweep has no grid".to_owned(),
                keys => format!("it has {}", keys.join(", ")),
            };
            return Err(Failure::Input(format!(
                "--by {unknown}: the grid of {} does not have this key; {known}",
                shown(path)
            )));
        }
        if !by.is_empty() {
            return Ok(by.to_vec());
        }
        // Folds are not settings to choose between; they have a table of their own.
        let varies = |key: &&&str| **key != FOLD && self.values_of(key).len() > 1;
        Ok(present
            .iter()
            .filter(varies)
            .map(|key| (*key).to_owned())
            .collect())
    }

    /// The number of runs, including failed ones.
    pub fn runs(&self) -> usize {
        self.points.iter().map(|point| point.runs).sum()
    }

    /// The number of failed runs.
    pub fn failures(&self) -> usize {
        self.points.iter().map(|point| point.failed).sum()
    }

    /// Whether runs have epochs. If each step draws its own samples, they have none.
    pub(super) fn has_epochs(&self) -> bool {
        self.runs() == self.failures() || !self.columns.list(EPOCHS).is_empty()
    }

    /// What says whether a run learned.
    pub(super) fn watched(&self) -> &'static str {
        let (metric, held_out) = (Metric::Loss, true);
        let loss = self.columns.number(Quantity::Metric { metric, held_out });
        if loss.iter().any(|loss| !loss.is_nan()) {
            "held-out F1"
        } else {
            "F1 on the training samples, since none were held out,"
        }
    }

    /// Whether a run's final model learned.
    pub(super) fn has_learned(&self, run: usize) -> bool {
        let value = |metric, held_out| {
            let number = self.columns.number(Quantity::Metric { metric, held_out });
            number.get(run).copied().filter(|value| value.is_finite())
        };
        let held_out = value(Metric::Loss, true).is_some();
        !self.columns.number(LEARNED)[run].is_nan()
            || is_learned(|metric| value(metric, held_out), self.learned_from)
    }

    /// The number of runs that learned.
    pub(super) fn learned(&self) -> usize {
        self.points.iter().map(|point| point.learned).sum()
    }
}

/// Whether a row holds its attention on the positions that decide.
fn holds_deciding(fields: &Map<String, Value>) -> bool {
    let field = field_of(Quantity::Deciding(Metric::AttentionPositive));
    field.is_some_and(|field| fields.contains_key(&field.name))
}

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Learned,
    NotLearned,
    OneClass,
}

/// What a run's final model is worth, by the fields of its row. Of a row without F1, only the step tells it.
fn ending(fields: &Map<String, Value>, learned_from: f64) -> Ending {
    let value = |metric: Metric, held_out: bool| {
        let quantity = Quantity::Metric { metric, held_out };
        fields.get(&field_of(quantity)?.name)
    };
    let held_out = value(Metric::F1, true).is_some()
        && value(Metric::Loss, true).is_some_and(Value::is_number);
    let number = |metric| value(metric, held_out).and_then(Value::as_f64);
    let learned = match value(Metric::F1, held_out) {
        Some(_) => is_learned(number, learned_from),
        None => fields.get("learned_at_step").is_some_and(Value::is_number),
    };
    if learned {
        Ending::Learned
    } else if number(Metric::F1) >= Some(learned_from) {
        Ending::OneClass
    } else {
        Ending::NotLearned
    }
}
