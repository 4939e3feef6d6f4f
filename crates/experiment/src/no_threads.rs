//! In place of `threads.rs` in WebAssembly: the calling thread alone.

use headlight_fused::{Alone, Team};

/// The calling thread.
#[derive(Debug, Default)]
pub(crate) struct Threads;

impl Threads {
    pub(crate) fn new(_count: usize) -> Self {
        Self
    }
}

impl Team for Threads {
    fn threads(&self) -> usize {
        1
    }

    fn each<T: Send>(&self, parts: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
        Alone.each(parts, work);
    }
}
