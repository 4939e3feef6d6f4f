//! A reader with a byte budget.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

/// Reads until its byte budget is spent, then fails.
///
/// For parsers whose memory grows with their input. The caller renews the budget before each part of
/// the input that it wants to limit.
#[derive(Debug)]
pub struct Metered<R> {
    inner: R,
    left: Rc<Cell<u64>>,
    what: &'static str,
}

impl<R> Metered<R> {
    /// A reader of `budget` bytes, and the cell that renews the budget. Messages call the input `what`.
    pub fn new(inner: R, budget: u64, what: &'static str) -> (Self, Rc<Cell<u64>>) {
        let left = Rc::new(Cell::new(budget));
        let reader = Self {
            inner,
            left: Rc::clone(&left),
            what,
        };
        (reader, left)
    }

    fn spend(&self, bytes: usize) -> io::Result<()> {
        let left = self.left.get().checked_sub(bytes as u64);
        let Some(left) = left else {
            let message = format!("{} is too long", self.what);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        };
        self.left.set(left);
        Ok(())
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.spend(read)?;
        Ok(read)
    }
}

impl<R: Seek> Seek for Metered<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}
