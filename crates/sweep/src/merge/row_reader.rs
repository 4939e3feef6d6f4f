//! Reads rows by their place in the files.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;

use serde_json::{Map, Value};

use headlight_trainer::Failure;
use headlight_trainer::storage::files::open;

/// The most files that are open at the same time; operating systems commonly allow 1024 or 256.
const OPEN_LIMIT: usize = 128;

/// The place of a row. Places are ordered by seed and point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowPlace {
    pub(super) seed: u64,
    pub(super) point: u32,
    pub(super) file: u32,
    pub(super) start: u64,
    /// The length of the row with its line break.
    pub(super) length: u32,
    /// Whether the run failed.
    pub(super) failed: bool,
}

/// Reads rows by their place.
pub(super) struct RowReader<'a> {
    paths: &'a [PathBuf],
    readers: Vec<Option<BufReader<File>>>,
    /// The files that are open, in the order of opening.
    open: VecDeque<usize>,
}

impl<'a> RowReader<'a> {
    pub(super) fn of(paths: &'a [PathBuf]) -> Self {
        Self {
            paths,
            readers: paths.iter().map(|_| None).collect(),
            open: VecDeque::new(),
        }
    }

    fn reader(&mut self, file: usize) -> io::Result<&mut BufReader<File>> {
        while self.readers[file].is_none() {
            if self.open.len() == OPEN_LIMIT {
                self.close_first();
            }
            match open(&self.paths[file], u64::MAX) {
                Ok(opened) => {
                    self.readers[file] = Some(BufReader::new(opened));
                    self.open.push_back(file);
                }
                // The system may allow fewer open files.
                Err(Failure::System(_)) if self.close_first() => {}
                Err(failure) => return Err(io::Error::other(failure)),
            }
        }
        self.readers[file]
            .as_mut()
            .ok_or_else(|| io::Error::other("the file is not open"))
    }

    /// Closes the file that was opened first, if there is one.
    fn close_first(&mut self) -> bool {
        let first = self.open.pop_front();
        first.map(|first| self.readers[first] = None).is_some()
    }

    /// Closes all files.
    pub(super) fn close(&mut self) {
        while self.close_first() {}
    }

    /// A row as bytes, with its line break.
    pub(super) fn line(&mut self, place: RowPlace) -> io::Result<Vec<u8>> {
        let reader = self.reader(place.file as usize)?;
        let here = reader.stream_position()?;
        // Rows of a file are nearly always read one after the other. A relative seek keeps the buffer.
        match i64::try_from(i128::from(place.start) - i128::from(here)) {
            Ok(offset) => reader.seek_relative(offset)?,
            Err(_) => drop(reader.seek(SeekFrom::Start(place.start))?),
        }
        let mut line = vec![0; place.length as usize];
        reader.read_exact(&mut line)?;
        Ok(line)
    }

    /// All fields of a row.
    pub(super) fn fields(&mut self, place: RowPlace) -> io::Result<Map<String, Value>> {
        Ok(serde_json::from_slice(&self.line(place)?)?)
    }

    /// The same as `fields`, with a failure that names the row.
    pub(super) fn fields_or_failure(
        &mut self,
        place: RowPlace,
    ) -> Result<Map<String, Value>, Failure> {
        self.fields(place)
            .map_err(|error| self.invalid_row(place, &error.to_string()))
    }

    /// The error for a row, with its file and seed.
    fn invalid_row(&self, place: RowPlace, reason: &str) -> Failure {
        let path = &self.paths[place.file as usize];
        Failure::reading(path, format!("the row of seed {}: {reason}", place.seed))
    }
}
