//! Threads that share the work on a batch.

/// Some threads. What is computed does not depend on their number.
pub trait Team: Sync {
    /// How many threads there are.
    fn threads(&self) -> usize;

    /// Does some work on each part, which has its own place among the parts, and returns when all of it is done.
    fn each<T: Send>(&self, parts: &mut [T], work: impl Fn(usize, &mut T) + Sync);
}

/// The calling thread alone.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Team for Alone {
    fn threads(&self) -> usize {
        1
    }

    fn each<T: Send>(&self, parts: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
        for (index, part) in parts.iter_mut().enumerate() {
            work(index, part);
        }
    }
}
