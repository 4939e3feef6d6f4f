//! Rows by where they lie.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;

use serde_json::{Map, Value};

use headlight_trainer::Failure;

/// The most files that are open at a time; systems commonly allow 1024 or 256.
const OPEN_LIMIT: usize = 128;

/// Where a row lies. Ordered by seed and point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) seed: u64,
    pub(super) point: u32,
    pub(super) file: u32,
    pub(super) start: u64,
    /// Of the line with its end: at most the limit of a row and one.
    pub(super) length: u32,
    /// Whether it reports a failed run.
    pub(super) failed: bool,
}

/// Reads rows by their place.
pub(super) struct Places<'a> {
    paths: &'a [PathBuf],
    readers: Vec<Option<BufReader<File>>>,
    /// Those that are open, the one opened first in front.
    open: VecDeque<usize>,
}

impl<'a> Places<'a> {
    pub(super) fn of(paths: &'a [PathBuf]) -> Self {
        Self {
            paths,
            readers: paths.iter().map(|_| None).collect(),
            open: VecDeque::new(),
        }
    }

    fn reader(&mut self, file: usize) -> io::Result<&mut BufReader<File>> {
        if self.readers[file].is_none() {
            if self.open.len() == OPEN_LIMIT
                && let Some(first) = self.open.pop_front()
            {
                self.readers[first] = None;
            }
            self.open.push_back(file);
        }
        let reader = &mut self.readers[file];
        match reader {
            Some(reader) => Ok(reader),
            None => Ok(reader.insert(BufReader::new(headlight_input::open(
                &self.paths[file],
                u64::MAX,
            )?))),
        }
    }

    /// A line with its end.
    pub(super) fn line(&mut self, entry: Entry) -> io::Result<Vec<u8>> {
        let reader = self.reader(entry.file as usize)?;
        let here = reader.stream_position()?;
        // Rows of a file come one after the other nearly always: the buffer is kept then.
        match i64::try_from(i128::from(entry.start) - i128::from(here)) {
            Ok(offset) => reader.seek_relative(offset)?,
            Err(_) => drop(reader.seek(SeekFrom::Start(entry.start))?),
        }
        let mut line = vec![0; entry.length as usize];
        reader.read_exact(&mut line)?;
        Ok(line)
    }

    /// All fields of a row.
    pub(super) fn fields(&mut self, entry: Entry) -> io::Result<Map<String, Value>> {
        Ok(serde_json::from_slice(&self.line(entry)?)?)
    }

    /// The same, with a failure that says where the row is.
    pub(super) fn checked(&mut self, entry: Entry) -> Result<Map<String, Value>, Failure> {
        self.fields(entry)
            .map_err(|error| self.refuse(entry, &error.to_string()))
    }

    /// What is wrong with a row.
    pub(super) fn refuse(&self, entry: Entry, reason: &str) -> Failure {
        let path = &self.paths[entry.file as usize];
        Failure::reading(path, format!("the row of seed {}: {reason}", entry.seed))
    }
}
