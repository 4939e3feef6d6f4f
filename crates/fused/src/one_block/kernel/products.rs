//! Products of small matrices, in both arrangements of the lanes.

use crate::lanes::{LANES, Lanes, ZERO};
use crate::vectors::Vectors;

/// `output[i] = Σ_position weights[position] x[position, i]`, one sample per lane.
#[inline(always)]
pub(super) fn average<const TILE: usize>(
    weights: &[Lanes],
    x: &[Lanes],
    width: usize,
    output: &mut [Lanes],
) {
    let tiles = width / TILE;
    let output = &mut output.as_chunks_mut::<TILE>().0[..tiles];
    for t in 0..tiles {
        let mut sum = [ZERO; TILE];
        for (weight, x) in weights.iter().zip(x.chunks_exact(width)) {
            let x = x.as_chunks::<TILE>().0[t];
            for i in 0..TILE {
                for l in 0..LANES {
                    sum[i][l] += weight[l] * x[i][l];
                }
            }
        }
        output[t] = sum;
    }
}

/// `output[o] = start[o] + Σ_i weight[i, o] input(i, o)`, one sample per lane.
#[inline(always)]
pub(super) fn project<const TILE: usize>(
    weight: &[f32],
    start: impl Fn(usize) -> f32,
    width: usize,
    input: impl Fn(usize, usize) -> Lanes,
    output: &mut [Lanes],
) {
    let tiles = width / TILE;
    let weight = &weight.as_chunks::<TILE>().0[..width * tiles];
    let output = &mut output.as_chunks_mut::<TILE>().0[..tiles];
    for t in 0..tiles {
        let mut sum = [ZERO; TILE];
        for o in 0..TILE {
            sum[o] = [start(t * TILE + o); LANES];
        }
        for i in 0..width {
            let weight = weight[i * tiles + t];
            for o in 0..TILE {
                let input = input(i, t * TILE + o);
                for l in 0..LANES {
                    sum[o][l] += weight[o] * input[l];
                }
            }
        }
        output[t] = sum;
    }
}

/// `output[i] = Σ_o weight[i, o] input[o]` over some columns `o`, one sample per lane.
#[inline(always)]
pub(super) fn project_back<const TILE: usize>(
    weight: &[f32],
    width: usize,
    columns: core::ops::Range<usize>,
    input: &[Lanes],
    output: &mut [Lanes],
) {
    let tiles = width / TILE;
    let weight = &weight[..width * width];
    let input = &input[..width];
    let output = &mut output.as_chunks_mut::<TILE>().0[..tiles];
    for t in 0..tiles {
        let weight = &weight[t * TILE * width..][..TILE * width];
        let mut sum = [ZERO; TILE];
        for o in columns.clone() {
            let input = input[o];
            for i in 0..TILE {
                let weight = weight[i * width + o];
                for l in 0..LANES {
                    sum[i][l] += weight * input[l];
                }
            }
        }
        output[t] = sum;
    }
}

/// Copies the samples from the lanes to rows. `[width]` lanes to `[sample, width]`
#[inline(always)]
pub(super) fn to_rows<const TILE: usize>(
    vectors: impl Vectors,
    lanes: &[Lanes],
    width: usize,
    rows: &mut [f32],
) {
    let tiles = width / TILE;
    let rows = &mut rows.as_chunks_mut::<TILE>().0[..LANES * tiles];
    let lanes = &lanes.as_chunks::<TILE>().0[..tiles];
    for t in 0..tiles {
        let mut columns = [ZERO; LANES];
        columns[..TILE].copy_from_slice(&lanes[t]);
        for (lane, row) in vectors.turn(columns).iter().enumerate() {
            rows[lane * tiles + t].copy_from_slice(&row[..TILE]);
        }
    }
}

/// Adds the row of each sample to `sum`, one after the other.
#[inline(always)]
pub(super) fn add_rows(rows: &[f32], width: usize, sum: &mut [f32]) {
    let sum = &mut sum[..width];
    for row in rows[..LANES * width].chunks_exact(width) {
        for i in 0..width {
            sum[i] += row[i];
        }
    }
}

/// `sums[i, o] += Σ_sample left[i, sample] rows[sample, o]`.
#[inline(always)]
pub(super) fn add_products<const TILE: usize>(
    left: &[Lanes],
    rows: &[f32],
    width: usize,
    sums: &mut [f32],
) {
    let tiles = width / TILE;
    let rows = &rows.as_chunks::<TILE>().0[..LANES * tiles];
    let sums = &mut sums.as_chunks_mut::<TILE>().0[..width * tiles];
    let left = &left.as_chunks::<TILE>().0[..tiles];
    for upper in 0..tiles {
        let left = left[upper];
        for t in 0..tiles {
            let mut tile = [[0.0; TILE]; TILE];
            for lane in 0..LANES {
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
