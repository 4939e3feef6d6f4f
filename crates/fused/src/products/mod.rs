//! Products of matrices (`multiply`), one sample per lane, and sums over samples, one column per lane (`sums`).

mod multiply;
mod sums;

pub(crate) use multiply::{Apart, Grid, SideBySide, Target, multiply, multiply_all};
pub(crate) use sums::{Block, add_products, to_rows};

use crate::lanes::Lanes;
use crate::vectors::Vectors;

/// The sums of `R` rows and `C` columns.
struct Tile<V: Vectors, const R: usize, const C: usize>([[V::Vector; C]; R]);

impl<V: Vectors, const R: usize, const C: usize> Tile<V, R, C> {
    #[inline(always)]
    fn zero(vectors: V) -> Self {
        Self([[vectors.splat(0.0); C]; R])
    }

    #[inline(always)]
    fn read<const L: usize>(
        &mut self,
        vectors: V,
        values: &[Lanes<L>],
        first: usize,
        stride: usize,
    ) {
        for r in 0..R {
            let row = &values[first + r * stride..][..C];
            for c in 0..C {
                self.0[r][c] = vectors.load(&row[c]);
            }
        }
    }

    #[inline(always)]
    fn write<const L: usize>(
        self,
        vectors: V,
        values: &mut [Lanes<L>],
        first: usize,
        stride: usize,
    ) {
        for r in 0..R {
            let row = &mut values[first + r * stride..][..C];
            for c in 0..C {
                vectors.store(self.0[r][c], &mut row[c]);
            }
        }
    }
}
