//! Reads a results file into counts, and the numbers of each run that did not fail.

use std::collections::BTreeMap;
use std::path::Path;

use headlight_data::Task;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::metrics::Metric;
use headlight_experiment::outcome::is_learned;
use headlight_trainer::Failure;
use headlight_trainer::storage::standard::shown;
use serde::Serialize;
use serde_json::{Map, Value};

use super::classes::{classes, rate, reader, task};
use super::columns::{Columns, EPOCHS, LEARNED, NEGATIVE, POSITIVE, numbers};
use super::padding::is_padded;
use super::target::AttentionTarget;
use crate::fields::Quantity;
use crate::grid::FOLD;
use crate::measured::Measured;
use crate::origin::Origin;
use crate::plan::Plan;
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
    /// Whether the target was chosen from the rows, not given.
    pub(super) target_is_chosen: bool,
    /// Attention to the target, of positives and of negatives. `[run]`
    pub(super) attention: [Vec<f32>; 2],
    /// Whether samples may hold padding, so that rows do not tell how many keys a query may look at.
    pub(super) padded: bool,
    /// What uniform attention to the target would be, of positives; NaN if rows do not tell. `[run]`
    pub(super) uniform: Vec<f64>,
    /// The names of positives and of negatives.
    pub(super) classes: [String; 2],
    /// The position whose attention rows hold: `[CLS]`, or the one that the class is read from.
    pub(super) reader: String,
    /// Whether some of the models read the class from the mean of all positions.
    pub(super) reads_mean: bool,
    /// What the models answer.
    pub(super) task: Task,
    /// The attention rate of each point of the grid, `None` if its weights are no softmax; the last holds for later points. Empty
    /// if no config says.
    pub(super) rates: Vec<Option<f64>>,
    /// The grid's keys that the tables and plots compare.
    pub(super) by: Vec<String>,
    /// The fields that they compare, by their columns in CSV; if empty, F1 and what configs ask for.
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
    /// Reads the results of a plan.
    ///
    /// # Errors
    /// When the file cannot be read, or is not a results file.
    pub fn read(path: &Path, plan: &Plan, measured: Measured) -> Result<Self, Failure> {
        let configs = || plan.points().iter().map(crate::plan::Point::config);
        let rules = configs().map(|config| config.data.rule.as_ref());
        let target = AttentionTarget::of(rules, measured);
        let learned_from = plan.points()[0].config().report.learned;
        let padded = configs().any(is_padded);
        let rates: Vec<_> = configs().map(rate).collect();
        let own = Self::unread(target, learned_from, padded);
        let own = Self { rates, ..own };
        let mut summary = own.filled(path, &[], Measured::default())?;
        summary.classes = classes(configs());
        summary.reader = reader(configs());
        summary.reads_mean = configs().any(ExperimentConfig::reads_mean);
        summary.task = task(configs());
        Ok(summary)
    }

    /// Reads a results file in one pass. A run learned if [`is_learned`] says so of its final model. Compares the values of the keys in `by`; if it is empty, of each key that
    /// varies.
    ///
    /// # Errors
    /// When the file cannot be read, is not a results file, or lacks one of the keys.
    pub fn of(
        path: &Path,
        target: AttentionTarget,
        by: &[String],
        learned_from: f64,
    ) -> Result<Self, Failure> {
        Self::with(path, target, by, learned_from, Measured::default())
    }

    /// As [`of`](Self::of), with what its runs measured when they were trained again.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn with(
        path: &Path,
        target: AttentionTarget,
        by: &[String],
        learned_from: f64,
        measured: Measured,
    ) -> Result<Self, Failure> {
        Self::unread(target, learned_from, false).filled(path, by, measured)
    }

    /// A summary of no rows yet.
    fn unread(target: AttentionTarget, learned_from: f64, padded: bool) -> Self {
        Self {
            padded,
            points: Vec::new(),
            columns: Columns::new(),
            reasons: BTreeMap::new(),
            target_is_chosen: false,
            target,
            learned_from,
            lost: 0,
            of_one_class: 0,
            attention: [Vec::new(), Vec::new()],
            uniform: Vec::new(),
            classes: ["label 1 or more", "label 0"].map(str::to_owned),
            reader: "[CLS]".to_owned(),
            reads_mean: false,
            task: Task::Classification,
            rates: Vec::new(),
            by: Vec::new(),
            metrics: Vec::new(),
        }
    }

    /// Adds the rows of a file.
    fn filled(mut self, path: &Path, by: &[String], measured: Measured) -> Result<Self, Failure> {
        let summary = &mut self;
        let mut rows = Rows::open(path)?;
        let mut last = None;
        let wanted = |key: &str| key == "error" || key.contains('.') || Columns::keeps(key);
        while let Some(line) = rows.next(wanted)? {
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
        if let Some(origin) = rows.config().and_then(|hash| Origin::of(path, hash)) {
            summary.take_config(&origin, measured);
        }
        summary.choose_target(path)?;
        summary.by = summary.keys(path, by)?;
        Ok(self)
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

    /// Takes from the config of the rows the names of classes, and the target if it was not given.
    fn take_config(&mut self, origin: &Origin, measured: Measured) {
        let keys = self.points.iter().flat_map(|point| &point.values);
        // Otherwise, the rule, the position that the class is read from, and uniform attention are the same at all points.
        let varies = |(key, _): &(String, Value)| {
            let of_model = [
                "model.pooling",
                "model.attention.rate",
                "model.attention.softmax",
            ];
            key.starts_with("data.") && key != FOLD || of_model.contains(&key.as_str())
        };
        let points = if keys.into_iter().any(varies) {
            &self.points[..]
        } else {
            &self.points[..1]
        };
        let configs = points.iter().map(|point| origin.config(&point.values));
        // A config that can no longer be read, as when its dataset file is gone, says nothing.
        let Ok(configs) = configs.collect::<Result<Vec<_>, _>>() else {
            return;
        };
        self.classes = classes(configs.iter());
        self.reader = reader(configs.iter());
        self.reads_mean = configs.iter().any(ExperimentConfig::reads_mean);
        self.task = task(configs.iter());
        self.rates = configs.iter().map(rate).collect();
        self.padded |= configs.iter().any(is_padded);
        if self.target == AttentionTarget::Main {
            let rules = configs.iter().map(|config| config.data.rule.as_ref());
            self.target = AttentionTarget::of(rules, measured);
        }
    }

    /// Chooses the target if nothing gives it, and measures the attention to it.
    fn choose_target(&mut self, path: &Path) -> Result<(), Failure> {
        let [positive, negative] = [POSITIVE, NEGATIVE].map(|class| self.columns.list(class));
        let positions = positive.len().max(negative.len());
        if self.target == AttentionTarget::Main {
            let main = positive
                .iter()
                .enumerate()
                .map(|(position, column)| {
                    let known = column.iter().filter(|value| value.is_finite());
                    (position, known.map(|&value| f64::from(value)).sum::<f64>())
                })
                .max_by(|(_, a), (_, b)| a.total_cmp(b));
            self.target_is_chosen = true;
            self.target = main.map_or(AttentionTarget::Nothing, |(position, _)| {
                AttentionTarget::Positions(vec![position])
            });
        }
        if let AttentionTarget::Positions(named) = &self.target
            && let Some(outside) = named.iter().find(|position| **position >= positions)
            && positions > 0
        {
            return Err(Failure::Input(format!(
                "--position {outside}: the runs of {} have positions 0 to {}",
                shown(path),
                positions - 1
            )));
        }
        let looks = self.target.looks(
            &self.columns,
            [POSITIVE, NEGATIVE],
            self.padded,
            &self.rates,
        );
        self.attention =
            [0, 1].map(|class| looks.iter().map(|look| look.attention[class]).collect());
        self.uniform = looks.iter().map(|look| look.uniform).collect();
        Ok(())
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
        let field = numbers().find(|field| field.quantity == quantity)?;
        fields.get(&field.name)
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
