//! What a results file says as a whole.

mod columns;
mod groups;
mod sheet;
mod statistics;
mod watched;

use std::collections::BTreeMap;
use std::path::Path;

use headlight_inspector::Document;
use serde_json::Value;

use super::plan::Plan;
use super::results::Rows;
use super::row::Line;
use crate::Failure;
use columns::{Columns, LISTS, NEGATIVE, NUMBERS, POSITIVE};
pub use watched::Watched;

/// The most reasons of failures that are told apart.
const REASON_LIMIT: usize = 1000;

/// The longest reason that is shown, in characters.
const REASON_LENGTH: usize = 120;

/// The runs of a results file: counts, and numbers of each run that did not fail.
#[derive(Clone, Debug)]
pub struct Summary {
    /// By number; those that no row is of have no runs.
    points: Vec<Point>,
    columns: Columns,
    /// Failures, by their message without its numbers.
    reasons: BTreeMap<String, Reason>,
    watched: Watched,
    /// Whether the watched position was found in the rows, not given.
    found: bool,
    /// Attention on the watched position, of positives and of negatives. `[run]`
    attention: [Vec<f32>; 2],
    /// The grid's keys that the tables and pictures are by.
    by: Vec<String>,
}

/// A point of the grid.
#[derive(Clone, Debug, Default)]
struct Point {
    /// The grid's keys and their values; empty where there is no grid.
    values: Vec<(String, Value)>,
    runs: usize,
    failed: usize,
    learned: usize,
}

/// Why runs failed.
#[derive(Clone, Debug)]
struct Reason {
    /// The first one's message, and where it was.
    message: String,
    seed: u64,
    runs: usize,
}

impl Summary {
    /// Reads the results of a plan.
    ///
    /// # Errors
    /// When the file cannot be read, or holds what no sweep writes.
    pub fn read(path: &Path, plan: &Plan) -> Result<Self, Failure> {
        let rule = plan.points()[0].config().data.rule.as_ref();
        Self::of(path, Watched::of(rule), &[])
    }

    /// Reads results in one pass, and groups runs by these keys of the grid, or by each key that varies.
    ///
    /// # Errors
    /// When the file cannot be read, holds what no sweep writes, or has no such keys.
    pub fn of(path: &Path, watched: Watched, by: &[String]) -> Result<Self, Failure> {
        let mut summary = Self {
            points: Vec::new(),
            columns: Columns::new(),
            reasons: BTreeMap::new(),
            found: watched == Watched::Main,
            watched,
            attention: [Vec::new(), Vec::new()],
            by: Vec::new(),
        };
        let mut rows = Rows::open(path)?;
        let mut last = None;
        let wanted = |key: &str| {
            key == "error" || key.contains('.') || NUMBERS.contains(&key) || LISTS.contains(&key)
        };
        while let Some(line) = rows.next(wanted)? {
            let place = Some((line.seed, line.point));
            if place <= last {
                return Err(rows.refuse(&format!(
                    "seed {} stands there twice or out of order; `headlight merge {} --out FILE.jsonl` puts that \
                     right",
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
        summary.watch(path)?;
        summary.by = summary.keys(path, by)?;
        Ok(summary)
    }

    fn add(&mut self, line: &Line) -> Result<(), String> {
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
        // What comes after the first clause, and at which step it was, is no reason of its own.
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

    /// Settles where attention is measured, and measures it.
    fn watch(&mut self, path: &Path) -> Result<(), Failure> {
        let lists = &self.columns.lists;
        let positions = lists[POSITIVE].len().max(lists[NEGATIVE].len());
        if self.watched == Watched::Main {
            let main = lists[POSITIVE]
                .iter()
                .enumerate()
                .map(|(position, column)| {
                    let known = column.iter().filter(|value| !value.is_nan());
                    (position, known.map(|&value| f64::from(value)).sum::<f64>())
                })
                .max_by(|(_, a), (_, b)| a.total_cmp(b));
            if let Some((position, _)) = main {
                self.watched = Watched::Positions(vec![position]);
            }
        }
        if let Watched::Positions(watched) = &self.watched
            && let Some(beyond) = watched.iter().find(|position| **position >= positions)
            && positions > 0
        {
            return Err(Failure::Input(format!(
                "--position {beyond}: the runs of {} have positions 0 to {}",
                path.display(),
                positions - 1
            )));
        }
        let runs = self.columns.points.len();
        self.attention =
            [POSITIVE, NEGATIVE].map(|class| self.watched.attention(&lists[class], runs));
        Ok(())
    }

    /// The keys that were asked for, or all that vary.
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
                [] => "it is of a sweep without a grid".to_owned(),
                keys => format!("it has {}", keys.join(", ")),
            };
            return Err(Failure::Input(format!(
                "--by {unknown}: {} has no such key of a grid; {known}",
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
    fn learned(&self) -> usize {
        self.points.iter().map(|point| point.learned).sum()
    }

    /// The tables, and histograms, for a terminal of so many columns.
    pub fn text(&self, columns: usize) -> String {
        format!("\n{}", self.document("").markdown(columns))
    }

    /// The pictures.
    pub fn picture(&self, title: &str) -> String {
        self.document(title).plots_svg()
    }

    /// Words, tables and pictures.
    pub fn document(&self, title: &str) -> Document {
        sheet::document(self, title)
    }
}
