//! Products of small matrices, in both arrangements of the lanes.

use crate::lanes::{LANES, Lanes};
use crate::vectors::{Vectors, rows_of_samples};

/// `output[i] = Σ_position weights[position] x[position, i]`, one sample per lane.
#[inline(always)]
pub(super) fn average<V: Vectors, const TILE: usize, const L: usize>(
    vectors: V,
    weights: &[Lanes<L>],
    x: &[Lanes<L>],
    width: usize,
    output: &mut [Lanes<L>],
) {
    let tiles = width / TILE;
    let output = &mut output.as_chunks_mut::<TILE>().0[..tiles];
    for t in 0..tiles {
        let mut sum = [vectors.splat(0.0); TILE];
        for (weight, x) in weights.iter().zip(x.chunks_exact(width)) {
            let x = &x.as_chunks::<TILE>().0[t];
            let weight = vectors.load(weight);
            for i in 0..TILE {
                vectors.add_product(&mut sum[i], weight, vectors.load(&x[i]));
            }
        }
        for i in 0..TILE {
            vectors.store(sum[i], &mut output[t][i]);
        }
    }
}

/// `output[o] = start[o] + Σ_i weight[i, o] input(i, o)`, one sample per lane.
#[inline(always)]
pub(super) fn project<'a, V: Vectors, const TILE: usize, const L: usize>(
    vectors: V,
    weight: &[f32],
    start: impl Fn(usize) -> f32,
    width: usize,
    input: impl Fn(usize, usize) -> &'a Lanes<L>,
    output: &mut [Lanes<L>],
) {
    let tiles = width / TILE;
    let weight = &weight.as_chunks::<TILE>().0[..width * tiles];
    let output = &mut output.as_chunks_mut::<TILE>().0[..tiles];
    for t in 0..tiles {
        let mut sum = [vectors.splat(0.0); TILE];
        for o in 0..TILE {
            sum[o] = vectors.splat(start(t * TILE + o));
        }
        for i in 0..width {
            let weight = weight[i * tiles + t];
            for o in 0..TILE {
                let input = vectors.load(input(i, t * TILE + o));
                vectors.add_product(&mut sum[o], vectors.splat(weight[o]), input);
            }
        }
        for o in 0..TILE {
            vectors.store(sum[o], &mut output[t][o]);
        }
    }
}

/// `output[i] = Σ_o weight[i, o] input[o]` over some columns `o`, one sample per lane.
#[inline(always)]
pub(super) fn project_back<V: Vectors, const TILE: usize, const L: usize>(
    vectors: V,
    weight: &[f32],
    width: usize,
    columns: std::ops::Range<usize>,
    input: &[Lanes<L>],
    output: &mut [Lanes<L>],
) {
    let tiles = width / TILE;
    let weight = &weight[..width * width];
    let input = &input[..width];
    let output = &mut output.as_chunks_mut::<TILE>().0[..tiles];
    for t in 0..tiles {
        let weight = &weight[t * TILE * width..][..TILE * width];
        let mut sum = [vectors.splat(0.0); TILE];
        for o in columns.clone() {
            let input = vectors.load(&input[o]);
            for i in 0..TILE {
                let weight = vectors.splat(weight[i * width + o]);
                vectors.add_product(&mut sum[i], weight, input);
            }
        }
        for i in 0..TILE {
            vectors.store(sum[i], &mut output[t][i]);
        }
    }
}

/// Copies the samples from the lanes to rows. `[width]` lanes to `[sample, width]`
#[inline(always)]
pub(super) fn to_rows<V: Vectors, const TILE: usize, const L: usize>(
    vectors: V,
    lanes: &[Lanes<L>],
    width: usize,
    rows: &mut [f32],
) {
    let tiles = width / TILE;
    let rows = &mut rows.as_chunks_mut::<TILE>().0[..L * tiles];
    let lanes = &lanes.as_chunks::<TILE>().0[..tiles];
    for part in 0..L / LANES {
        for t in 0..tiles {
            let mut columns = [[0.0; L]; LANES];
            columns[..TILE].copy_from_slice(&lanes[t]);
            let turned = rows_of_samples(vectors, &columns, part);
            for (lane, row) in turned.iter().enumerate() {
                rows[(part * LANES + lane) * tiles + t].copy_from_slice(&row[..TILE]);
            }
        }
    }
}

/// Adds the row of each sample to `sum`, one after the other.
#[inline(always)]
pub(super) fn add_rows<const L: usize>(rows: &[f32], width: usize, sum: &mut [f32]) {
    let sum = &mut sum[..width];
    for row in rows[..L * width].chunks_exact(width) {
        for i in 0..width {
            sum[i] += row[i];
        }
    }
}

/// `sums[i, o] += Σ_sample left[i, sample] rows[sample, o]`, for eight samples and then for the next.
#[inline(always)]
pub(super) fn add_products<const TILE: usize, const L: usize>(
    left: &[Lanes<L>],
    rows: &[f32],
    width: usize,
    sums: &mut [f32],
) {
    let tiles = width / TILE;
    let rows = &rows.as_chunks::<TILE>().0[..L * tiles];
    let sums = &mut sums.as_chunks_mut::<TILE>().0[..width * tiles];
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
