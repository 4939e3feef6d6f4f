//! Numbers in memory that start where a line of the cache starts. A vector that lies across two lines takes two loads.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

/// Numbers of a cache line: those of the longest vector, too.
const LINE: usize = 16;

/// Vectors of `N` numbers each.
#[derive(Debug)]
pub(crate) struct Aligned<const N: usize> {
    numbers: Vec<f32>,
    /// The first of the numbers that count.
    start: usize,
    vectors: usize,
}

impl<const N: usize> Aligned<N> {
    /// Zeros.
    pub(crate) fn zeros(vectors: usize) -> Self {
        let numbers = vec![
            0.0;
            if vectors > 0 {
                vectors * N + LINE - 1
            } else {
                0
            }
        ];
        // Without an answer, the start is anywhere: that costs time alone.
        let start = numbers.as_ptr().align_offset(4 * LINE);
        Self {
            start: if vectors > 0 && start < LINE {
                start
            } else {
                0
            },
            numbers,
            vectors,
        }
    }
}

impl<const N: usize> Clone for Aligned<N> {
    fn clone(&self) -> Self {
        let mut own = Self::zeros(self.vectors);
        own.copy_from_slice(self);
        own
    }
}

impl<const N: usize> Deref for Aligned<N> {
    type Target = [[f32; N]];

    #[inline(always)]
    fn deref(&self) -> &[[f32; N]] {
        self.numbers[self.start..]
            .as_chunks()
            .0
            .split_at(self.vectors)
            .0
    }
}

impl<const N: usize> DerefMut for Aligned<N> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [[f32; N]] {
        self.numbers[self.start..]
            .as_chunks_mut()
            .0
            .split_at_mut(self.vectors)
            .0
    }
}
