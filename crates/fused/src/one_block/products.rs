//! Products of small matrices, in both arrangements of the lanes.

use super::kernel::TILE;
use crate::lanes::{LANES, Lanes};
use crate::vectors::{Vectors, rows_of_samples};

/// `output[i] = Σ_position weights[position] x[position, i]`, one sample per lane.
#[inline(always)]
pub(super) fn average<V: Vectors, const D: usize, const L: usize>(
    vectors: V,
    weights: &[Lanes<L>],
    x: &[Lanes<L>],
    output: &mut [Lanes<L>],
) {
    let output = &mut output[..D];
    for t in (0..D).step_by(TILE) {
        let mut sum = [vectors.splat(0.0); TILE];
        for (weight, x) in weights.iter().zip(x.chunks_exact(D)) {
            let weight = vectors.load(weight);
            for i in 0..TILE {
                vectors.add_product(&mut sum[i], weight, vectors.load(&x[t + i]));
            }
        }
        for i in 0..TILE {
            vectors.store(sum[i], &mut output[t + i]);
        }
    }
}

/// `output[o] = start[o] + Σ_i weight[i, o] input[i]`, one sample per lane.
#[inline(always)]
pub(super) fn project<V: Vectors, const D: usize, const L: usize>(
    vectors: V,
    weight: &[f32],
    start: impl Fn(usize) -> f32,
    input: &[Lanes<L>],
    output: &mut [Lanes<L>],
) {
    let (input, output) = (&input[..D], &mut output[..D]);
    let weight = &weight[..D * D];
    for t in (0..D).step_by(TILE) {
        let mut sum = [vectors.splat(0.0); TILE];
        for o in 0..TILE {
            sum[o] = vectors.splat(start(t + o));
        }
        for i in 0..D {
            let input = vectors.load(&input[i]);
            for o in 0..TILE {
                let weight = vectors.splat(weight[i * D + t + o]);
                vectors.add_product(&mut sum[o], weight, input);
            }
        }
        for o in 0..TILE {
            vectors.store(sum[o], &mut output[t + o]);
        }
    }
}

/// `output[i] = Σ_o weight[i, o] input[o]`, one sample per lane.
#[inline(always)]
pub(super) fn project_back<V: Vectors, const D: usize, const L: usize>(
    vectors: V,
    weight: &[f32],
    input: &[Lanes<L>],
    output: &mut [Lanes<L>],
) {
    let (input, output) = (&input[..D], &mut output[..D]);
    let weight = &weight[..D * D];
    for t in (0..D).step_by(TILE) {
        let mut sum = [vectors.splat(0.0); TILE];
        for o in 0..D {
            let input = vectors.load(&input[o]);
            for i in 0..TILE {
                let weight = vectors.splat(weight[(t + i) * D + o]);
                vectors.add_product(&mut sum[i], weight, input);
            }
        }
        for i in 0..TILE {
            vectors.store(sum[i], &mut output[t + i]);
        }
    }
}

/// Copies the samples from the lanes to rows. `[D]` lanes to `[sample, D]`
#[inline(always)]
pub(super) fn to_rows<V: Vectors, const D: usize, const L: usize>(
    vectors: V,
    lanes: &[Lanes<L>],
    rows: &mut [f32],
) {
    let rows = &mut rows[..L * D];
    let lanes = &lanes.as_chunks::<TILE>().0[..D / TILE];
    for part in 0..L / LANES {
        for (t, columns) in lanes.iter().enumerate() {
            let turned = rows_of_samples(vectors, columns, part);
            for (lane, row) in turned.iter().enumerate() {
                rows[(part * LANES + lane) * D + t * TILE..][..TILE].copy_from_slice(row);
            }
        }
    }
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
