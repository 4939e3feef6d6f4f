//! Trains the runs of a results file again, for their weights, which the file does not hold.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use headlight_architecture::Parameter;
use headlight_experiment::train::{Ending, Next, Observer, Progress, train};
use headlight_experiment::{Engine, Error};
use headlight_trainer::Failure;
use headlight_trainer::sessions::signals::Signals;
use headlight_trainer::storage::standard::shown;
use headlight_trainer::storage::weights;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::origin::difference;
use crate::plan::Plan;
use crate::results::Rows;
use crate::stored_row::StoredRow;
use crate::workers::{Sink, work};

/// The most rows that are trained again.
const MOST_ROWS: usize = 1000;

/// How many models each thread may have waiting for an earlier one.
const AHEAD: usize = 2;

/// The runs of a results file.
#[derive(Debug)]
pub struct Again {
    path: PathBuf,
    plan: Plan,
    rows: Vec<Known>,
}

/// A run to train again.
#[derive(Debug)]
struct Known {
    line: usize,
    seed: u64,
    weights_sha256: String,
}

impl Again {
    /// Reads which runs a file has, except those that failed. Skips a last line that was cut short, and reports it.
    ///
    /// # Errors
    /// When the file cannot be read, its rows are not those of the plan's config, or there are more than 1,000 or none.
    pub fn read(path: &Path, plan: Plan) -> Result<Self, Failure> {
        let rows = rows(path, &plan)?;
        let path = path.to_owned();
        Ok(Self { path, plan, rows })
    }

    /// Refuses a file whose first row belongs to a grid or to folds, before anything else is asked for.
    ///
    /// # Errors
    /// When it does, or the file cannot be opened.
    pub fn check(path: &Path) -> Result<(), Failure> {
        match Rows::open(path)?.next(|_| false) {
            Ok(Some(row)) => check_seeds_alone(path, &row),
            // Another file is refused where its rows are read.
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// Number of runs.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no runs.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Trains all runs, and passes their weights on in the order of the rows.
    ///
    /// # Errors
    /// When a run gets other weights than its row says, or the system fails.
    pub fn train(
        &self,
        threads: usize,
        signals: &Signals,
        sink: &mut dyn Sink<Vec<Parameter>>,
    ) -> Result<(), Failure> {
        let train = |index: usize| self.weights(&self.rows[index], signals);
        let (threads, ahead) = (threads.min(self.len()), AHEAD * threads);
        work(train, 0..self.len(), threads, ahead, signals, sink)
    }

    /// The weights of a run, in the model's order; `None` if a signal interrupts its training.
    fn weights(&self, known: &Known, signals: &Signals) -> Result<Option<Vec<Parameter>>, Failure> {
        let session = self.plan.points()[0].session(known.seed)?;
        let mut engine = session.engine()?;
        let engine = engine.as_mut();
        let interrupted = || signals.received().is_some();
        let start = Progress::default();
        let ending = train(&session.experiment, engine, start, interrupted, &mut Silent)?;
        if ending == Ending::Interrupted {
            return Ok(None);
        }
        let found = engine.parameters();
        let hash = format!("{:x}", Sha256::digest(weights::encode(found.clone())?));
        if hash != known.weights_sha256 {
            return Err(Failure::Input(format!(
                "{}, line {}: seed {} trained to weights with the SHA-256 {hash}, but the row has {}; run `headlight sweep` \
                 again on this machine",
                shown(&self.path),
                known.line,
                known.seed,
                known.weights_sha256
            )));
        }
        Ok(Some(found))
    }
}

/// Refuses a row that belongs to a grid or to folds.
fn check_seeds_alone(path: &Path, row: &StoredRow) -> Result<(), Failure> {
    if row.point.is_none() {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "{0} holds runs of a grid or of folds, and only seeds of one config can be averaged; summarise them with \
         `headlight report {0}`, or train one of them and name its run directory",
        shown(path)
    )))
}

/// The rows of a file, without those of failed runs.
fn rows(path: &Path, plan: &Plan) -> Result<Vec<Known>, Failure> {
    let mut lines = Rows::open(path)?;
    let (mut rows, mut seen) = (Vec::new(), BTreeSet::new());
    let is_wanted = |key: &str| ["error", "weights_sha256"].contains(&key);
    while let Some(row) = lines.next(is_wanted)? {
        check_seeds_alone(path, &row)?;
        let invalid = |reason: &str| lines.invalid_row(reason);
        if row.config_sha256 != plan.config_sha256 {
            let config = plan.points()[0].config();
            return Err(invalid(&format!(
                "{}; give the same --config and the same --set as to the sweep",
                difference(path, &row.config_sha256, config)
            )));
        }
        if !seen.insert(row.seed) {
            return Err(invalid(&format!("seed {} appears twice", row.seed)));
        }
        if row.fields.contains_key("error") {
            continue;
        }
        let hash = row.fields.get("weights_sha256").and_then(Value::as_str);
        rows.push(Known {
            line: lines.count,
            seed: row.seed,
            weights_sha256: hash
                .ok_or_else(|| invalid("it has no `weights_sha256`"))?
                .to_owned(),
        });
        if rows.len() > MOST_ROWS {
            return Err(Failure::Input(format!(
                "{}: there are more than {MOST_ROWS} seeds; average fewer, such as those of its first {MOST_ROWS} lines",
                shown(path)
            )));
        }
    }
    if rows.is_empty() {
        let what = if lines.count == 0 {
            "it has no complete rows"
        } else {
            "all of its runs failed"
        };
        return Err(Failure::Input(format!("{}: {what}", shown(path))));
    }
    Ok(rows)
}

/// Observes nothing.
struct Silent;

impl Observer for Silent {
    type Failure = Error;

    fn step(&mut self, _progress: Progress, _engine: &mut dyn Engine) -> Result<Next, Error> {
        Ok(Next::Step)
    }
}
