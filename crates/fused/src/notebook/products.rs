//! Products of small matrices, in both arrangements of the lanes.

use super::kernel::TILE;
use crate::lanes::{LANES, Lanes};
use crate::products::{Contiguous, Strided, Target, multiply_all};
use crate::vectors::Vectors;

/// `output[i] = Σ_position weights[position] x[position, i]`, one sample per lane.
#[inline(always)]
pub(super) fn average<V: Vectors, const D: usize, const L: usize>(
    vectors: V,
    weights: &[Lanes<L>],
    x: &[Lanes<L>],
    output: &mut [Lanes<L>],
) {
    let (count, x) = (weights.len(), Contiguous(&x[..weights.len() * D], D));
    let into = Target::of(&mut output[..D], D);
    multiply_all(vectors, [1, count, D], Strided(weights, count), x, into);
}

/// `output[o] = start[o] + Σ_i weight[i, o] input[i]`, one sample per lane.
#[inline(always)]
pub(super) fn project<V: Vectors, const D: usize, const L: usize>(
    vectors: V,
    weight: &[f32],
    start: &[f32],
    input: &[Lanes<L>],
    output: &mut [Lanes<L>],
) {
    let (input, weight) = (Strided(&input[..D], D), Contiguous(&weight[..D * D], D));
    let into = Target::of(&mut output[..D], D).from(start);
    multiply_all(vectors, [1, D, D], input, weight, into);
}

/// `output[i] = Σ_o weight[i, o] input[o]`, one sample per lane.
#[inline(always)]
pub(super) fn project_back<V: Vectors, const D: usize, const L: usize>(
    vectors: V,
    weight: &[f32],
    input: &[Lanes<L>],
    output: &mut [Lanes<L>],
) {
    let (input, weight) = (Strided(&input[..D], D), Strided(&weight[..D * D], D));
    let into = Target::of(&mut output[..D], D);
    multiply_all(vectors, [1, D, D], input, weight, into);
}

/// Adds the row of each sample to `sum`, one after the other.
#[inline(always)]
pub(super) fn add_rows<const D: usize, const L: usize>(rows: &[f32], sum: &mut [f32]) {
    let sum = &mut sum[..D];
    for row in rows[..L * D].chunks_exact(D) {
        for i in 0..D {
            sum[i] += row[i];
        }
    }
}

/// `sums[i, o] += Σ_sample left[i, sample] rows[sample, o]`, for eight samples and then for the next.
#[inline(always)]
pub(super) fn add_products<const D: usize, const L: usize>(
    left: &[Lanes<L>],
    rows: &[f32],
    sums: &mut [f32],
) {
    let tiles = D / TILE;
    let rows = &rows.as_chunks::<TILE>().0[..L * tiles];
    let sums = &mut sums.as_chunks_mut::<TILE>().0[..D * tiles];
    let left = &left.as_chunks::<TILE>().0[..tiles];
    for part in 0..L / LANES {
        for upper in 0..tiles {
            let left = &left[upper];
            for t in 0..tiles {
                let mut tile = [[0.0; TILE]; TILE];
                for lane in part * LANES..(part + 1) * LANES {
                    let row = rows[lane * tiles + t];
                    for i in 0..TILE {
                        for o in 0..TILE {
                            tile[i][o] += left[i][lane] * row[o];
                        }
                    }
                }
                for i in 0..TILE {
                    let sum = &mut sums[(upper * TILE + i) * tiles + t];
                    for o in 0..TILE {
                        sum[o] += tile[i][o];
                    }
                }
            }
        }
    }
}
