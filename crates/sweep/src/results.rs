//! The results file: written by a sweep, read by merge and report.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::BufReader;
use std::ops::Range;
use std::path::{Path, PathBuf};

use headlight_input::{Line, Lines};
use headlight_trainer::files::access::{Log, open};
use headlight_trainer::{Failure, STANDARD, Signals, note, option, shown};

use crate::plan::Plan;
use crate::recorded_config::{Extent, FROM_ANOTHER_SWEEP, RecordedConfig, difference};
use crate::row::Row;
use crate::run::run;
use crate::stored_row::StoredRow;
use crate::workers::work;

/// The longest row, in bytes; enough for 167,000 epochs.
pub(crate) const ROW_LIMIT: u64 = 4 << 20;

/// A results file, locked while a sweep writes it.
#[derive(Debug)]
pub struct Results {
    lines: Log,
    path: PathBuf,
    /// What is to be written beside the file with its next row: the config of the sweep, its hash, and its runs.
    config: Option<(String, String, Extent)>,
    /// The runs that are asked for.
    runs: Range<usize>,
    /// The number of runs in the file.
    pub finished: usize,
}

impl Results {
    /// Refuses a name that is not that of a results file.
    ///
    /// # Errors
    /// When it does not end in `.jsonl`.
    pub fn check_name(path: &Path) -> Result<(), Failure> {
        let out = option("--out ", "out=");
        if path == Path::new(STANDARD) {
            return Err(Failure::Input(format!(
                "{out}-: a sweep's results need a file, from which it resumes; name a .jsonl file"
            )));
        }
        if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            return Ok(());
        }
        Err(Failure::Input(format!(
            "{out}{}: a sweep writes .jsonl files; convert one to .csv with `headlight merge`",
            shown(path)
        )))
    }

    /// Opens a results file, or creates it. Rows that it already holds must be those of the first of `runs`. A
    /// last line that was cut short, by a kill or a full disk, is dropped.
    ///
    /// # Errors
    /// When the file cannot be written, another sweep is writing it, or it holds rows of other runs.
    pub fn open(path: &Path, plan: &Plan, runs: Range<usize>) -> Result<Self, Failure> {
        if path.exists() {
            headlight_input::check_kind(path).map_err(|error| Failure::unreadable(path, &error))?;
        }
        let file = loop {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)
                .map_err(|error| Failure::writing(path, &error))?;
            lock(&file, path)?;
            // The sweep that held the lock may have removed the file.
            if path.exists() {
                break file;
            }
        };
        let (finished, length) = check(&file, path, plan, runs.clone())?;
        Ok(Self {
            lines: Log::at(file, path, length)?,
            path: path.to_owned(),
            config: Some((
                plan.config_text.clone(),
                plan.config_sha256.clone(),
                plan.extent(),
            )),
            runs,
            finished,
        })
    }

    /// Trains the runs that the file lacks, until all are done or a signal arrives, and appends their rows. `finished` is called
    /// with each row as soon as its run has ended, in any order. A sweep that fails before its first row leaves no file.
    ///
    /// # Errors
    /// When a run or the system fails, or a row cannot be written.
    pub fn train(
        &mut self,
        plan: &Plan,
        threads: usize,
        signals: &Signals,
        finished: impl FnMut(&Row),
    ) -> Result<(), Failure> {
        let left = self.missing_runs();
        let train = |index| run(plan, index, signals);
        let worked = work(train, left, threads, signals, finished, |row| {
            self.append(&row)
        });
        if worked.is_err() {
            self.lines.discard_empty();
        }
        worked
    }

    /// The runs that the file lacks.
    pub fn missing_runs(&self) -> Range<usize> {
        self.runs.start + self.finished..self.runs.end
    }

    fn append(&mut self, row: &Row) -> Result<(), Failure> {
        if let Some((config, hash, all)) = self.config.take() {
            RecordedConfig::write(&self.path, &config, &hash, all)?;
        }
        self.lines.append_line(row)?;
        self.finished += 1;
        Ok(())
    }
}

fn lock(file: &File, path: &Path) -> Result<(), Failure> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Failure::Input(format!(
            "another sweep is writing {}; wait until it ends, or choose another {}",
            shown(path),
            option("--out", "out=")
        ))),
        Err(TryLockError::Error(error)) => Err(Failure::writing(path, &error)),
    }
}

/// Counts the rows of `runs` in a file, and their bytes.
fn check(
    file: &File,
    path: &Path,
    plan: &Plan,
    runs: Range<usize>,
) -> Result<(usize, u64), Failure> {
    let reading = |error| Failure::unreadable(path, &error);
    let copy = file.try_clone().map_err(reading)?;
    let mut lines = Lines::new(BufReader::new(copy), ROW_LIMIT);
    let (mut finished, mut length) = (0, 0);
    while let Some(Line { text, whole }) = lines.next_line().map_err(reading)? {
        let invalid = |reason: String| {
            Failure::Input(format!(
                "{}, line {}: {reason}; choose another {}, or move the file",
                shown(path),
                finished + 1,
                option("--out", "out=")
            ))
        };
        let run = runs.start + finished;
        let (seed, point) = plan.seed_and_point(run);
        if !whole {
            // It may be all that a file of something else holds.
            let start = format!("{{\"seed\":{seed},");
            let is_start = text.starts_with(&start) || start.starts_with(&text);
            let row = StoredRow::parse(text);
            if !is_start || row.is_ok_and(|row| row.config_sha256 != plan.config_sha256) {
                let reason = "the last line is not the start of a row of this sweep";
                return Err(invalid(reason.to_owned()));
            }
            break;
        }
        let found = StoredRow::parse(text).map_err(&invalid)?;
        if run >= runs.end {
            return Err(invalid(format!(
                "the file holds more than the {} requested runs",
                runs.len()
            )));
        }
        if found.config_sha256 != plan.config_sha256 {
            let config = plan.points()[0].config();
            return Err(invalid(difference(path, &found.config_sha256, config)));
        }
        if (found.seed, found.point.unwrap_or(0)) != (seed, point) {
            return Err(invalid(format!(
                "the row has seed {}, but this sweep or shard has seed {seed} at that line",
                found.seed
            )));
        }
        let point = &plan.points()[point];
        found
            .check(&point.values, point.config())
            .map_err(&invalid)?;
        finished += 1;
        length = lines.read;
    }
    if file.metadata().map_err(reading)?.len() > length {
        note(&format!(
            "{}: the end of the file was cut short; runs without a whole line are computed again",
            shown(path)
        ));
    }
    Ok((finished, length))
}

/// Reads the rows of a results file, one at a time. Skips a last line that was cut short, and reports it.
pub(crate) struct StoredRows<'a> {
    lines: Lines<BufReader<File>>,
    path: &'a Path,
    /// The first row's config.
    config: Option<String>,
    /// The number of rows so far, which is the line number of the last one.
    pub(crate) count: usize,
    /// The offset of the last row in the file, and its length with the line break.
    pub(crate) span: (u64, usize),
}

impl<'a> StoredRows<'a> {
    pub(crate) fn open(path: &'a Path) -> Result<Self, Failure> {
        let file = open(path, u64::MAX)?;
        Ok(Self {
            lines: Lines::new(BufReader::new(file), ROW_LIMIT),
            path,
            config: None,
            count: 0,
            span: (0, 0),
        })
    }

    /// The next row.
    pub(crate) fn next(&mut self) -> Result<Option<StoredRow>, Failure> {
        let start = self.lines.read;
        let next = self.lines.next_line();
        let line = next.map_err(|error| self.with_hint(Failure::unreadable(self.path, &error)))?;
        let is_whole = |line: &Line| line.whole || StoredRow::parse(line.text.clone()).is_ok();
        let Some(Line { text, .. }) = line.filter(is_whole) else {
            if self.lines.read > start {
                note(&format!(
                    "{}: the last line was cut short and is skipped; run its sweep again to complete it",
                    shown(self.path)
                ));
            }
            return Ok(None);
        };
        self.count += 1;
        self.span = (start, text.len() + 1);
        let line =
            StoredRow::parse(text).map_err(|reason| self.with_hint(self.invalid_row(&reason)))?;
        let config = self
            .config
            .get_or_insert_with(|| line.config_sha256.clone());
        if *config != line.config_sha256 {
            return Err(self.invalid_row(&format!("{FROM_ANOTHER_SWEEP} than the rows before it")));
        }
        Ok(Some(line))
    }

    /// The hash of the config that all rows so far share.
    pub(crate) fn config(&self) -> Option<&str> {
        self.config.as_deref()
    }

    /// The error for the last row, with its line number.
    pub(crate) fn invalid_row(&self, reason: &str) -> Failure {
        Failure::reading(self.path, format!("line {}: {reason}", self.count))
    }

    /// Adds a hint if at most one line could be read: the file is then likely not a results file.
    fn with_hint(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Input(message) if self.count <= 1 => Failure::Input(format!(
                "{message}; name a .jsonl file of `headlight sweep` or `headlight merge`"
            )),
            other => other,
        }
    }
}
