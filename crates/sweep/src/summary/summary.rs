//! Counts over the runs of a results file, and numbers of each run that did not fail.

use std::collections::BTreeMap;
use std::path::Path;

use headlight_trainer::Failure;
use serde_json::Value;

use super::columns::{Columns, NEGATIVE, POSITIVE};
use super::target::AttentionTarget;
use crate::plan::Plan;
use crate::results::Rows;
use crate::stored::StoredRow;

/// The most reasons of failures that are counted separately.
const REASON_LIMIT: usize = 1000;

/// The longest reason that is shown, in characters.
const REASON_LENGTH: usize = 120;

/// The runs of a results file: counts, and numbers of each run that did not fail.
#[derive(Clone, Debug)]
pub struct Summary {
    /// By number; a point without rows has no runs.
    pub(super) points: Vec<Point>,
    pub(super) columns: Columns,
    /// Failures, by their message without its numbers.
    pub(super) reasons: BTreeMap<String, Reason>,
    /// Where attention is measured.
    pub(super) target: AttentionTarget,
    /// Whether the target was found in the rows, not given.
    pub(super) found: bool,
    /// Attention on the target, of positives and of negatives. `[run]`
    pub(super) attention: [Vec<f32>; 2],
    /// The grid's keys that the tables and plots compare.
    pub(super) by: Vec<String>,
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

/// Why runs failed.
#[derive(Clone, Debug)]
pub(super) struct Reason {
    /// The first run's message, and its seed.
    pub(super) message: String,
    pub(super) seed: u64,
    pub(super) runs: usize,
}

impl Summary {
    /// Reads the results of a plan.
    ///
    /// # Errors
    /// When the file cannot be read, or is not a results file.
    pub fn read(path: &Path, plan: &Plan) -> Result<Self, Failure> {
        let rule = plan.points()[0].config().data.rule.as_ref();
        Self::of(path, AttentionTarget::of(rule), &[])
    }

    /// Reads results in one pass; compares the values of these keys of the grid, or of each key that varies.
    ///
    /// # Errors
    /// When the file cannot be read, is not a results file, or lacks one of the keys.
    pub fn of(path: &Path, target: AttentionTarget, by: &[String]) -> Result<Self, Failure> {
        let mut summary = Self {
            points: Vec::new(),
            columns: Columns::new(),
            reasons: BTreeMap::new(),
            found: target == AttentionTarget::Main,
            target,
            attention: [Vec::new(), Vec::new()],
            by: Vec::new(),
        };
        let mut rows = Rows::open(path)?;
        let mut last = None;
        let wanted = |key: &str| key == "error" || key.contains('.') || Columns::holds(key);
        while let Some(line) = rows.next(wanted)? {
            let place = Some((line.seed, line.point));
            if place <= last {
                return Err(rows.refuse(&format!(
                    "seed {} appears twice or out of order; `headlight merge {} --out FILE.jsonl` fixes \
                     that",
                    line.seed,
                    path.display()
                )));
            }
            last = place;
            summary.add(&line).map_err(|reason| rows.refuse(&reason))?;
        }
        if rows.count == 0 {
            return Err(Failure::reading(
                path,
                "it holds no rows; name a .jsonl file of `headlight sweep` or `headlight merge`",
            ));
        }
        summary.settle_target(path)?;
        summary.by = summary.keys(path, by)?;
        Ok(summary)
    }

    fn add(&mut self, line: &StoredRow) -> Result<(), String> {
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
                "it has other values of the grid's keys than the rows of point {number} before it"
            ));
        }
        point.runs += 1;
        if let Some(error) = line.fields.get("error") {
            point.failed += 1;
            self.fail(line.seed, error.as_str().unwrap_or("(no message)"));
            return Ok(());
        }
        let learned = line.fields.get("learned_at_step");
        point.learned += usize::from(learned.is_some_and(Value::is_number));
        self.columns.push(number, &line.fields)
    }

    fn fail(&mut self, seed: u64, message: &str) {
        // Runs that fail at different steps fail for the same reason: only the first clause counts, without
        // its numbers.
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

    /// Decides where attention is measured, and measures it.
    fn settle_target(&mut self, path: &Path) -> Result<(), Failure> {
        let [positive, negative] = [POSITIVE, NEGATIVE].map(|class| self.columns.list(class));
        let positions = positive.len().max(negative.len());
        if self.target == AttentionTarget::Main {
            let main = positive
                .iter()
                .enumerate()
                .map(|(position, column)| {
                    let known = column.iter().filter(|value| !value.is_nan());
                    (position, known.map(|&value| f64::from(value)).sum::<f64>())
                })
                .max_by(|(_, a), (_, b)| a.total_cmp(b));
            if let Some((position, _)) = main {
                self.target = AttentionTarget::Positions(vec![position]);
            }
        }
        if let AttentionTarget::Positions(named) = &self.target
            && let Some(beyond) = named.iter().find(|position| **position >= positions)
            && positions > 0
        {
            return Err(Failure::Input(format!(
                "--position {beyond}: the runs of {} have positions 0 to {}",
                path.display(),
                positions - 1
            )));
        }
        let runs = self.columns.points.len();
        self.attention = [positive, negative].map(|lists| self.target.attention(lists, runs));
        Ok(())
    }

    /// The keys that the user named, or all that vary.
    fn keys(&self, path: &Path, by: &[String]) -> Result<Vec<String>, Failure> {
        let mut there: Vec<&str> = Vec::new();
        for (key, _) in self.points.iter().flat_map(|point| &point.values) {
            // A grid has few keys, and points of one grid have the same.
            if !there.contains(&key.as_str()) && there.len() < 64 {
                there.push(key);
            }
        }
        if let Some(unknown) = by.iter().find(|key| !there.contains(&key.as_str())) {
            let known = match there.as_slice() {
                [] => "its sweep has no grid".to_owned(),
                keys => format!("it has {}", keys.join(", ")),
            };
            return Err(Failure::Input(format!(
                "--by {unknown}: the grid of {} lacks this key; {known}",
                path.display()
            )));
        }
        if !by.is_empty() {
            return Ok(by.to_vec());
        }
        let varies = |key: &&&str| self.values_of(key).len() > 1;
        Ok(there
            .iter()
            .filter(varies)
            .map(|key| (*key).to_owned())
            .collect())
    }

    /// Runs, failed ones among them.
    pub fn runs(&self) -> usize {
        self.points.iter().map(|point| point.runs).sum()
    }

    /// Runs that failed.
    pub fn failures(&self) -> usize {
        self.points.iter().map(|point| point.failed).sum()
    }

    /// Runs whose held-out F1 reached 0.99.
    pub(super) fn learned(&self) -> usize {
        self.points.iter().map(|point| point.learned).sum()
    }
}
