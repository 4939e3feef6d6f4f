//! The results file: written by a sweep, read by merge and report.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::BufReader;
use std::ops::Range;
use std::path::{Path, PathBuf};

use headlight_input::Line;
use headlight_trainer::Failure;
use headlight_trainer::notes::note;
use headlight_trainer::storage::files::{Log, open};
use headlight_trainer::storage::standard::{STANDARD, shown};

use crate::origin::{ANOTHER, Origin, difference};
use crate::plan::Plan;
use crate::row::Row;
use crate::stored_row::StoredRow;

/// The longest row, in bytes; enough for 167,000 epochs.
pub(crate) const ROW_LIMIT: u64 = 4 << 20;

/// A results file, locked while a sweep writes it.
#[derive(Debug)]
pub struct Results {
    lines: Log,
    path: PathBuf,
    /// What is to be written beside the file with its next row: the config of the sweep, and its hash.
    config: Option<(String, String)>,
    /// The number of runs in the file.
    pub finished: usize,
}

impl Results {
    /// Refuses a name that is not that of a results file.
    ///
    /// # Errors
    /// When it does not end in `.jsonl`.
    pub fn check_name(path: &Path) -> Result<(), Failure> {
        if path == Path::new(STANDARD) {
            return Err(Failure::Input(
                "--out -: a sweep's results need a file, from which it resumes; name a .jsonl file"
                    .to_owned(),
            ));
        }
        if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            return Ok(());
        }
        Err(Failure::Input(format!(
            "--out {}: a sweep writes .jsonl files; convert one to .csv with `headlight merge`",
            shown(path)
        )))
    }

    /// Opens a results file, or creates it. Rows that it already holds must be those of the first `runs`. A
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
            if is_at(&file, path) {
                break file;
            }
        };
        let (finished, length) = check(&file, path, plan, runs)?;
        Ok(Self {
            lines: Log::at(file, path, length)?,
            path: path.to_owned(),
            config: Some((plan.origin.clone(), plan.config_sha256.clone())),
            finished,
        })
    }

    /// Appends a row, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, row: &Row) -> Result<(), Failure> {
        if let Some((config, hash)) = self.config.take() {
            Origin::write(&self.path, &config, &hash)?;
        }
        self.lines.append_line(row)?;
        self.finished += 1;
        Ok(())
    }

    /// Removes the file if it holds no row: a sweep that failed before its first one leaves nothing.
    pub fn discard_empty(&self) {
        self.lines.discard_empty();
    }
}

/// Whether a path still leads to an open file; always `true` where the system gives files no identity.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |found: Metadata| (found.dev(), found.ino());
        let (held, found) = (file.metadata().map(identity), path.metadata().map(identity));
        matches!((held, found), (Ok(held), Ok(found)) if held == found)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

fn lock(file: &File, path: &Path) -> Result<(), Failure> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Failure::Input(format!(
            "another sweep is writing {}; wait until it ends, or choose another --out",
            shown(path)
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
    let mut lines = RowLines::new(file.try_clone().map_err(reading)?, path);
    let (mut finished, mut length) = (0, 0);
    while let Some(line) = lines.next()? {
        let invalid = |reason: String| {
            Failure::Input(format!(
                "{}, line {}: {reason}; choose another --out, or move the file",
                shown(path),
                finished + 1
            ))
        };
        let run = runs.start + finished;
        let (seed, point) = plan.place(run);
        let found = StoredRow::parse(&line.text);
        if !line.whole {
            // It may be all that a file of something else holds.
            let (text, start) = (&*line.text, format!("{{\"seed\":{seed},"));
            let is_other = found.is_ok_and(|row| row.config_sha256 != plan.config_sha256);
            if is_other || !(text.starts_with(&start) || start.starts_with(text)) {
                let reason = "it is not the beginning of a row of this sweep";
                return Err(invalid(reason.to_owned()));
            }
            break;
        }
        let found = found.map_err(&invalid)?;
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
        length = lines.read();
    }
    if file.metadata().map_err(reading)?.len() > length {
        note(&format!(
            "{}: the end of the file was cut short; runs without a whole line are computed again",
            shown(path)
        ));
    }
    Ok((finished, length))
}

/// The lines of a results file, one in memory at a time.
struct RowLines<'a> {
    lines: headlight_input::Lines<BufReader<File>>,
    path: &'a Path,
}

impl<'a> RowLines<'a> {
    fn new(file: File, path: &'a Path) -> Self {
        Self {
            lines: headlight_input::Lines::new(BufReader::new(file), ROW_LIMIT),
            path,
        }
    }

    /// The next line; `None` at the end of the file.
    fn next(&mut self) -> Result<Option<Line>, Failure> {
        let next = self.lines.next_line();
        next.map_err(|error| Failure::unreadable(self.path, &error))
    }

    /// Bytes read so far.
    fn read(&self) -> u64 {
        self.lines.read
    }
}

/// Reads the rows of a results file. Skips a last line that was cut short, and reports it.
pub(crate) struct Rows<'a> {
    lines: RowLines<'a>,
    path: &'a Path,
    /// The first row's config.
    config: Option<String>,
    /// The number of rows so far, which is the line number of the last one.
    pub(crate) count: usize,
    /// The offset of the last row in the file, and its length with the line break.
    pub(crate) span: (u64, usize),
}

impl<'a> Rows<'a> {
    pub(crate) fn open(path: &'a Path) -> Result<Self, Failure> {
        Ok(Self {
            lines: RowLines::new(open(path, u64::MAX)?, path),
            path,
            config: None,
            count: 0,
            span: (0, 0),
        })
    }

    /// The next row.
    pub(crate) fn next(&mut self) -> Result<Option<StoredRow>, Failure> {
        let start = self.lines.read();
        let line = self
            .lines
            .next()
            .map_err(|failure| self.with_hint(failure))?;
        let Some(Line { text, .. }) = line.filter(|line| line.whole) else {
            if self.lines.read() > start {
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
            StoredRow::parse(&text).map_err(|reason| self.with_hint(self.invalid_row(&reason)))?;
        let config = self
            .config
            .get_or_insert_with(|| line.config_sha256.clone());
        if *config != line.config_sha256 {
            return Err(self.invalid_row(&format!("{ANOTHER} than the rows before it")));
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

    /// Adds a hint if the first line is not a row: the file is then likely not a results file.
    fn with_hint(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Input(message) if self.count <= 1 => Failure::Input(format!(
                "{message}; name a .jsonl file of `headlight sweep` or `headlight merge`"
            )),
            other => other,
        }
    }
}
