//! Reads rows by their spans in the files.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;

use headlight_trainer::files::access::open;

/// The run of a row, and its bytes in the files. Spans are ordered by seed and point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowSpan {
    pub(super) seed: u64,
    pub(super) point: u32,
    pub(super) file: u32,
    pub(super) start: u64,
    /// The length of the row with its line break.
    pub(super) length: u32,
    /// Whether the run failed.
    pub(super) failed: bool,
}

/// Reads rows by their spans. One file is open at a time: a shard's rows follow each other, and there may be more shards than files
/// that the system lets a program open.
pub(super) struct RowReader<'a> {
    paths: &'a [PathBuf],
    open: Option<(u32, BufReader<File>)>,
}

impl<'a> RowReader<'a> {
    pub(super) fn new(paths: &'a [PathBuf]) -> Self {
        Self { paths, open: None }
    }

    /// A row as bytes, with its line break.
    pub(super) fn line(&mut self, span: RowSpan) -> io::Result<Vec<u8>> {
        let (file, mut reader) = match self.open.take() {
            Some(open) if open.0 == span.file => open,
            _ => {
                let opened = open(&self.paths[span.file as usize], u64::MAX);
                (span.file, BufReader::new(opened.map_err(io::Error::other)?))
            }
        };
        // The next row is nearly always in the buffer already.
        let here = reader.stream_position()?;
        match i64::try_from(i128::from(span.start) - i128::from(here)) {
            Ok(offset) => reader.seek_relative(offset)?,
            Err(_) => drop(reader.seek(SeekFrom::Start(span.start))?),
        }
        let mut line = Vec::new();
        let mut row = Read::take(&mut reader, span.length.into());
        row.read_to_end(&mut line)?;
        // The last row of a file may lack its line break.
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        self.open = Some((file, reader));
        Ok(line)
    }
}
