//! Numbers in memory that start where a line of the cache starts. A vector that lies across two lines takes two loads.

use std::ops::{Deref, DerefMut};

/// Numbers of a cache line: those of the longest vector, too.
const LINE: usize = 16;

/// Vectors of `N` numbers each.
#[derive(Debug)]
pub(crate) struct Aligned<const N: usize> {
    /// From `start` on.
    numbers: Vec<f32>,
    start: usize,
}

/// Zeros, and the first of them at a line.
#[inline(never)]
fn zeros(count: usize) -> (Vec<f32>, usize) {
    if cfg!(target_arch = "wasm32") || count == 0 {
        return (vec![0.0; count], 0);
    }
    let mut numbers = vec![0.0; count + LINE - 1];
    // Without an answer, the start is anywhere: that costs time alone.
    let start = numbers.as_ptr().align_offset(4 * LINE).min(LINE - 1);
    numbers.truncate(start + count);
    (numbers, start)
}

impl<const N: usize> Aligned<N> {
    /// Zeros.
    pub(crate) fn zeros(vectors: usize) -> Self {
        let (numbers, start) = zeros(vectors * N);
        Self { numbers, start }
    }
}

impl<const N: usize> Clone for Aligned<N> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl<const N: usize> Deref for Aligned<N> {
    type Target = [[f32; N]];

    #[inline(always)]
    fn deref(&self) -> &[[f32; N]] {
        self.numbers[self.start..].as_chunks().0
    }
}

impl<const N: usize> DerefMut for Aligned<N> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [[f32; N]] {
        self.numbers[self.start..].as_chunks_mut().0
    }
}
