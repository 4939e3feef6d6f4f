//! The file that a sweep's rows go to.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::plan::Plan;
use super::row::{Line, Row};
use crate::Failure;
use crate::files::note;

/// The longest line that is read, in bytes.
const LINE_LIMIT: u64 = 1 << 24;

/// A results file, locked while a sweep writes it.
#[derive(Debug)]
pub struct Results {
    file: File,
    path: PathBuf,
    /// Bytes of whole lines.
    length: u64,
    /// Runs that it holds.
    pub finished: usize,
}

impl Results {
    /// Opens a results file, or makes it. Rows that it holds already must be the first of `runs`; a
    /// last line that was cut short, by a kill or a full disk, is dropped.
    ///
    /// # Errors
    /// When it cannot be written, another sweep is writing it, or it holds other rows.
    pub fn open(path: &Path, plan: &Plan, runs: Range<usize>) -> Result<Self, Failure> {
        if path.extension().is_none_or(|ending| ending != "jsonl") {
            return Err(Failure::Input(format!(
                "--out {}: a sweep writes .jsonl; `headlight merge` turns that into .csv",
                path.display()
            )));
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|error| match path.parent() {
                Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => {
                    Failure::Input(format!(
                        "cannot write {}: the folder {} does not exist",
                        path.display(),
                        folder.display()
                    ))
                }
                _ => Failure::writing(path, &error),
            })?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::Input(format!(
                    "another sweep is writing {}; wait for it, or choose another --out",
                    path.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(Failure::writing(path, &error)),
        }
        let mut results = Self {
            file,
            path: path.to_owned(),
            length: 0,
            finished: 0,
        };
        results.check(plan, runs)?;
        Ok(results)
    }

    fn check(&mut self, plan: &Plan, runs: Range<usize>) -> Result<(), Failure> {
        let path = self.path.clone();
        let reader = self
            .file
            .try_clone()
            .map_err(|error| Failure::reading(&path, error))?;
        let mut lines = Lines::new(reader, &path);
        while let Some(line) = lines.next_whole()? {
            let refuse = |reason: String| {
                Failure::Input(format!(
                    "{}, line {}: {reason}; choose another --out, or move the file away",
                    path.display(),
                    self.finished + 1
                ))
            };
            let found = Line::parse(&line).map_err(&refuse)?;
            let run = runs.start + self.finished;
            if run >= runs.end {
                return Err(refuse(format!(
                    "the file holds more than the {} runs that are asked for",
                    runs.len()
                )));
            }
            if found.config_sha256 != plan.config_sha256 {
                return Err(refuse(
                    "the row is of another config, grid, dataset or version of headlight"
                        .to_owned(),
                ));
            }
            let (seed, point) = plan.place(run);
            if (found.seed, found.point.unwrap_or(0)) != (seed, point) {
                return Err(refuse(format!(
                    "the row is of seed {}, where this sweep or shard has seed {seed}",
                    found.seed
                )));
            }
            self.finished += 1;
            self.length += line.len() as u64 + 1;
        }
        if lines.read > self.length {
            note(&format!(
                "{}: the last line was cut short and is computed again",
                path.display()
            ));
        }
        self.file
            .set_len(self.length)
            .and_then(|()| self.file.seek(SeekFrom::Start(self.length)))
            .map_err(|error| Failure::writing(&path, &error))?;
        Ok(())
    }

    /// Appends a row, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, row: &Row) -> Result<(), Failure> {
        let mut line = serde_json::to_string(row)
            .map_err(|error| Failure::System(format!("a row cannot be written: {error}")))?;
        line.push('\n');
        self.file.write_all(line.as_bytes()).map_err(|error| {
            let _ = self.file.set_len(self.length);
            Failure::writing(&self.path, &error)
        })?;
        self.length += line.len() as u64;
        self.finished += 1;
        Ok(())
    }

    /// Makes sure that the rows are on the disk.
    ///
    /// # Errors
    /// When they are not.
    pub fn sync(&self) -> Result<(), Failure> {
        self.file
            .sync_all()
            .map_err(|error| Failure::writing(&self.path, &error))
    }
}

/// The lines of a results file, one in memory at a time.
pub(super) struct Lines<'a> {
    reader: BufReader<File>,
    path: &'a Path,
    /// Bytes read so far.
    pub(super) read: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn new(file: File, path: &'a Path) -> Self {
        Self {
            reader: BufReader::new(file),
            path,
            read: 0,
        }
    }

    /// The next line without its end; `None` at the end of the file, or before a last line that has
    /// no end.
    pub(super) fn next_whole(&mut self) -> Result<Option<String>, Failure> {
        let mut line = Vec::new();
        let mut limited = std::io::Read::take(&mut self.reader, LINE_LIMIT);
        limited
            .read_until(b'\n', &mut line)
            .map_err(|error| Failure::reading(self.path, error))?;
        self.read += line.len() as u64;
        if line.pop() != Some(b'\n') {
            if line.len() as u64 + 1 >= LINE_LIMIT {
                return Err(Failure::reading(self.path, "it has a line of over 16 MiB"));
            }
            return Ok(None);
        }
        String::from_utf8(line)
            .map(Some)
            .map_err(|_| Failure::reading(self.path, "it is not UTF-8 text"))
    }
}
