//! Long files are not read in silence.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::time::{Duration, Instant};

use crate::notes::note;

/// How often Headlight tells how far it has read.
const EVERY: Duration = Duration::from_secs(2);

/// A file that tells how much of it was read, if that takes long.
pub(crate) struct Told<'a> {
    file: File,
    name: &'a str,
    pub(crate) length: u64,
    read: u64,
    last: Instant,
}

impl<'a> Told<'a> {
    /// The rest of a file, which notes call `name`.
    pub(crate) fn new(file: File, name: &'a str) -> io::Result<Self> {
        Ok(Self {
            length: file.metadata()?.len(),
            file,
            name,
            read: 0,
            last: Instant::now(),
        })
    }
}

impl Read for Told<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read += read as u64;
        if self.last.elapsed() >= EVERY {
            self.last = Instant::now();
            let percent = (100 * self.read) / self.length.max(1);
            note(&format!("{}: read {}%", self.name, percent.min(100)));
        }
        Ok(read)
    }
}

impl Seek for Told<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.read = self.file.seek(to)?;
        Ok(self.read)
    }
}
