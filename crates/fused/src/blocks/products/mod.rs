//! Products of matrices: of parameters with vectors of samples, one sample per lane (`project`); of vectors of samples
//! (`multiply`); and sums over samples, one column per lane (`sums`).

mod multiply;
mod project;
mod sums;

pub(super) use multiply::{Grid, Target, multiply};
pub(super) use project::{Weights, project, project_back};
pub(super) use sums::{Block, add_products, to_rows};

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
    fn read<const L: usize>(vectors: V, values: &[Lanes<L>], first: usize, stride: usize) -> Self {
        let mut tile = Self::zero(vectors);
        for r in 0..R {
            let row = &values[first + r * stride..][..C];
            for c in 0..C {
                tile.0[r][c] = vectors.load(&row[c]);
            }
        }
        tile
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
