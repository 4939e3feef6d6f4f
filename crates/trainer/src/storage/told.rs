//! Long files are not read in silence.

use std::io::{self, Read, Seek, SeekFrom};
use std::time::{Duration, Instant};

use crate::notes::note;

/// How often Headlight tells how far it has read.
const EVERY: Duration = Duration::from_secs(2);

/// A file that tells how much of it was read, if that takes long.
pub(crate) struct Told<'a, F> {
    file: F,
    name: &'a str,
    length: u64,
    read: u64,
    last: Instant,
}

impl<'a, F> Told<'a, F> {
    /// A file of `length` bytes, which notes call `name`.
    pub(crate) fn new(file: F, length: u64, name: &'a str) -> Self {
        Self {
            file,
            name,
            length,
            read: 0,
            last: Instant::now(),
        }
    }
}

impl<F: Read> Read for Told<'_, F> {
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

impl<F: Seek> Seek for Told<'_, F> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.read = self.file.seek(to)?;
        Ok(self.read)
    }
}
