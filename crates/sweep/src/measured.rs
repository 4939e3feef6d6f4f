//! The attention on the positions that decide each sample's label, of runs of a sweep. Rows hold attention by position
//! alone, so where these positions differ from sample to sample, runs are measured while they are trained.

use std::collections::BTreeMap;
use std::path::Path;

use headlight_experiment::metrics::Metric;
use headlight_trainer::Failure;
use headlight_trainer::sessions::signals::Signals;
use headlight_trainer::storage::standard::shown;
use serde_json::Value;

use crate::origin::Origin;
use crate::plan::Plan;
use crate::results::Rows;
use crate::row::Row;
use crate::run::run_of;
use crate::workers::{ROWS_AHEAD, Sink, work};

/// The most rows that are trained again.
const MOST_ROWS: usize = 1000;

/// The attention of runs on the positions that decide, by seed and point of the grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured(BTreeMap<(u64, usize), OnDeciding>);

/// The mean attention of `[CLS]` on the positions that decide, in the last block, over heads and training samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OnDeciding {
    /// Over samples of label 1 or more, and over those of label 0. NaN if there are none.
    pub(crate) attention: [f64; 2],
    /// What uniform attention would be over samples of label 1 or more.
    pub(crate) uniform: f64,
}

impl Measured {
    /// Takes what a run measured.
    pub fn add(&mut self, row: &Row) {
        let Ok(outcome) = &row.outcome else { return };
        let of = |metric| {
            let held_out = || outcome.held_out.as_ref()?[metric];
            outcome.train[metric].or_else(held_out).unwrap_or(f64::NAN)
        };
        let found = OnDeciding {
            attention: [Metric::AttentionPositive, Metric::AttentionNegative].map(of),
            uniform: of(Metric::UniformPositive),
        };
        if found.attention.iter().any(|value| value.is_finite()) {
            self.0.insert((row.seed, row.point.unwrap_or(0)), found);
        }
    }

    pub(crate) fn get(&self, seed: u64, point: usize) -> Option<&OnDeciding> {
        self.0.get(&(seed, point))
    }
}

/// The runs of a results file, to be trained again as the config beside it says.
#[derive(Debug)]
pub struct Remeasure {
    plan: Plan,
    runs: Vec<Known>,
}

#[derive(Debug)]
struct Known {
    line: usize,
    seed: u64,
    point: usize,
    weights_sha256: Value,
}

impl Remeasure {
    /// Reads which runs a file has, and the config beside it.
    ///
    /// # Errors
    /// When a file cannot be read, the config is not beside the results, or there are more than 1,000 runs or none.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let mut rows = Rows::open(path)?;
        let wanted = |key: &str| ["error", "weights_sha256"].contains(&key) || key.contains('.');
        let (mut runs, mut points) = (Vec::new(), BTreeMap::new());
        while let Some(row) = rows.next(wanted)? {
            let point = row.point.unwrap_or(0);
            let values = row.fields.iter().filter(|(key, _)| key.contains('.'));
            points.entry(point).or_insert_with(|| {
                let values = values.map(|(key, value)| (key.clone(), value.clone()));
                values.collect::<Vec<_>>()
            });
            if row.fields.contains_key("error") {
                continue;
            }
            runs.push(Known {
                line: rows.count,
                seed: row.seed,
                point,
                weights_sha256: row
                    .fields
                    .get("weights_sha256")
                    .cloned()
                    .unwrap_or_default(),
            });
            if runs.len() > MOST_ROWS {
                return Err(Failure::Input(format!(
                    "--again: {} has more than {MOST_ROWS} runs; report on fewer, such as its first {MOST_ROWS} lines",
                    shown(path)
                )));
            }
        }
        let origin = rows.config().and_then(|hash| Origin::of(path, hash));
        let Some(origin) = origin else {
            return Err(Failure::Input(format!(
                "--again: the config of {} is not beside it; run its sweep again, which writes it",
                shown(path)
            )));
        };
        let last = points.last_key_value().map_or(0, |(point, _)| *point);
        let points = (0..=last).map(|point| points.remove(&point).unwrap_or_default());
        let plan = Plan::of_points(origin.path(), points.collect())?;
        let mut configs = plan.points().iter().map(crate::plan::Point::config);
        if configs.all(|config| config.data.rule.is_none()) {
            return Err(Failure::Input(format!(
                "--again: no rule of the config of {} says which positions decide the label; measure one with --position N",
                shown(path)
            )));
        }
        Ok(Self { plan, runs })
    }

    /// Number of runs.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether there are no runs.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Trains all runs and passes them on in the order of the file.
    ///
    /// # Errors
    /// When a run gets other weights than its row says, or the system fails.
    pub fn train(
        &self,
        path: &Path,
        threads: usize,
        signals: &Signals,
        sink: &mut dyn Sink<Row>,
    ) -> Result<(), Failure> {
        let train = |index: usize| {
            let known = &self.runs[index];
            let row = run_of(&self.plan, known.seed, known.point, signals)?;
            let same = |row: &Row| {
                let outcome = row.outcome.as_ref();
                outcome.is_ok_and(|outcome| known.weights_sha256 == *outcome.weights_sha256)
            };
            if row.as_ref().is_some_and(|row| !same(row)) {
                return Err(Failure::Input(format!(
                    "{}, line {}: seed {} trained to other weights than those of the row; run `headlight sweep` again on \
                     this machine",
                    shown(path),
                    known.line,
                    known.seed
                )));
            }
            Ok(row)
        };
        work(
            train,
            0..self.len(),
            threads.min(self.len().max(1)),
            ROWS_AHEAD,
            signals,
            sink,
        )
    }
}
