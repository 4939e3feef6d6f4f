//! Sums over samples, one column per lane: of vectors that were turned to rows before.

use std::ops::Range;

use crate::instructions::for_each_isa;
use crate::lanes::{LANES, Lanes};
use crate::vectors::{Baseline, Vectors, rows_of_samples};

for_each_isa! {
    vectors,
    /// Copies the samples from the lanes to rows: `[row, width]` lanes to `[eight samples, row, sample, width]`.
    pub(super) fn lanes_to_rows<'a, L>(lanes: &'a [Lanes<L>], rows: &'a mut [f32], width: usize) {
        transpose_lanes(vectors, lanes, rows, width);
    }
}

/// The same, as a part of a larger computation.
#[inline(always)]
pub(crate) fn transpose_lanes<V: Vectors, const L: usize>(
    vectors: V,
    lanes: &[Lanes<L>],
    rows: &mut [f32],
    width: usize,
) {
    let eight = rows.len() / (L / LANES);
    for (part, rows) in rows.chunks_exact_mut(eight).enumerate() {
        let rows = rows.chunks_exact_mut(LANES * width);
        for (lanes, rows) in lanes.chunks_exact(width).zip(rows) {
            for column in (0..width).step_by(LANES) {
                let lanes = &lanes[column..][..LANES];
                let numbers = rows_of_samples(vectors, lanes, part);
                for (lane, numbers) in numbers.iter().enumerate() {
                    rows[lane * width + column..][..LANES].copy_from_slice(numbers);
                }
            }
        }
    }
}

/// Rows whose products are summed. Each `height` rows have a sum of their own.
#[derive(Clone, Copy, Default)]
pub(super) struct Segment<'a> {
    pub(super) left: &'a [f32],
    pub(super) right: &'a [f32],
    pub(super) height: usize,
}

for_each_isa! {
    vectors,
    /// `sums[i, o] += factor Σ_row left[row, i] right[row, o]` for some `i` and some columns `o`, in whole vectors of eight. The
    /// sums of segments are added one after the other. `widths` are those of `left` and `right`.
    pub(super) fn add_products<'a>(
        segments: &'a [Segment<'a>], widths: [usize; 2], inputs: Range<usize>, columns: Range<usize>, factor: f32,
        sums: &'a mut [f32],
    ) {
        let products = OuterProducts { segments, widths, inputs, factor };
        products.add_all(vectors, columns, sums);
    }
}

/// The rows whose outer products are summed, and the range of inputs to sum for.
struct OuterProducts<'a> {
    segments: &'a [Segment<'a>],
    widths: [usize; 2],
    inputs: Range<usize>,
    factor: f32,
}

impl OuterProducts<'_> {
    #[inline(always)]
    fn add_all<V: Vectors>(&self, vectors: V, columns: Range<usize>, sums: &mut [f32]) {
        let mut column = columns.start;
        while column < columns.end {
            // A page, whose code must be small, has no tiles of two vectors.
            if cfg!(not(target_arch = "wasm32")) && column + 2 * V::LANES <= columns.end {
                self.add_columns::<V, 2>(vectors, column, sums);
                column += 2 * V::LANES;
            } else if V::LANES == LANES || column + V::LANES <= columns.end {
                self.add_columns::<V, 1>(vectors, column, sums);
                column += V::LANES;
            } else {
                self.add_columns::<Baseline, 1>(Baseline, column, sums);
                column += LANES;
            }
        }
    }

    /// Columns that `C` vectors hold.
    #[inline(always)]
    fn add_columns<V: Vectors, const C: usize>(&self, vectors: V, column: usize, sums: &mut [f32]) {
        // Widths are multiples of eight.
        if vectors.keeps(16) {
            for i in self.inputs.clone().step_by(8) {
                self.add_tile::<V, C, 8>(vectors, i, column, sums);
            }
        } else {
            for i in self.inputs.clone().step_by(4) {
                self.add_tile::<V, C, 4>(vectors, i, column, sums);
            }
        }
    }

    #[inline(always)]
    fn add_tile<V: Vectors, const C: usize, const I: usize>(
        &self,
        vectors: V,
        i: usize,
        column: usize,
        sums: &mut [f32],
    ) {
        let [left_width, right_width] = self.widths;
        let first = (i - self.inputs.start) * right_width + column;
        let factor = vectors.splat(self.factor);
        let mut totals = [[vectors.splat(0.0); C]; I];
        for k in 0..I {
            for c in 0..C {
                totals[k][c] = vectors.load(&sums[first + k * right_width + c * V::LANES..]);
            }
        }
        for segment in self.segments {
            // Without divisions, which take as long as some rows.
            let (mut left, mut right) = (segment.left, segment.right);
            while !left.is_empty() {
                let mut tile = [[vectors.splat(0.0); C]; I];
                for _ in 0..segment.height {
                    let (of_left, of_right) = (&left[i..][..I], &right[column..][..C * V::LANES]);
                    let mut right_vectors = [vectors.splat(0.0); C];
                    for c in 0..C {
                        right_vectors[c] = vectors.load(&of_right[c * V::LANES..]);
                    }
                    for k in 0..I {
                        let left = vectors.splat(of_left[k]);
                        for c in 0..C {
                            vectors.add_product(&mut tile[k][c], left, right_vectors[c]);
                        }
                    }
                    (left, right) = (&left[left_width..], &right[right_width..]);
                }
                for k in 0..I {
                    for c in 0..C {
                        vectors.add_product(&mut totals[k][c], factor, tile[k][c]);
                    }
                }
            }
        }
        for k in 0..I {
            for c in 0..C {
                let into = &mut sums[first + k * right_width + c * V::LANES..];
                vectors.store(totals[k][c], into);
            }
        }
    }
}
