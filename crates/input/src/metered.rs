//! A reader that gives out.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

/// Hands on bytes until an allowance is used up, and fails from then on.
///
/// For parsers that take as much memory as their input makes them: renewed before each part that is
/// to be bounded, from where the allowance is held.
#[derive(Debug)]
pub struct Metered<R> {
    inner: R,
    left: Rc<Cell<u64>>,
    what: &'static str,
}

impl<R> Metered<R> {
    /// A reader of `allowance` bytes for `what`, as messages call it, and the place to renew it at.
    pub fn new(inner: R, allowance: u64, what: &'static str) -> (Self, Rc<Cell<u64>>) {
        let left = Rc::new(Cell::new(allowance));
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
