//! Products of parameters with vectors of samples, one sample per lane. They add to what their output holds.

use std::ops::Range;

use super::Tile;
use crate::instructions::for_each_set;
use crate::lanes::Lanes;
use crate::vectors::Vectors;

/// A matrix of parameters. `[inputs, stride]`
#[derive(Clone, Copy)]
pub(in super::super) struct Weights<'a> {
    pub(in super::super) values: &'a [f32],
    pub(in super::super) inputs: usize,
    pub(in super::super) stride: usize,
}

/// Calls `tile::<ROWS, COLUMNS>(first row, first column, arguments)` for all rows, two or one at a time, and all columns, as
/// many at a time as the registers hold.
macro_rules! in_tiles {
    ($vectors:ident, $rows:expr, $columns:expr, $tile:ident, $($arguments:expr),*) => {
        let (rows, columns): (usize, Range<usize>) = ($rows, $columns);
        for row in (0..rows / 2 * 2).step_by(2) {
            let mut column = columns.start;
            while $vectors.keeps(16) && column + 8 <= columns.end {
                $tile::<_, 2, 8, L>($vectors, row, column, $($arguments),*);
                column += 8;
            }
            while column + 4 <= columns.end {
                $tile::<_, 2, 4, L>($vectors, row, column, $($arguments),*);
                column += 4;
            }
            while column < columns.end {
                $tile::<_, 2, 1, L>($vectors, row, column, $($arguments),*);
                column += 1;
            }
        }
        if rows % 2 == 1 {
            let (row, mut column) = (rows - 1, columns.start);
            while column + 8 <= columns.end {
                $tile::<_, 1, 8, L>($vectors, row, column, $($arguments),*);
                column += 8;
            }
            while column < columns.end {
                $tile::<_, 1, 1, L>($vectors, row, column, $($arguments),*);
                column += 1;
            }
        }
    };
}

for_each_set! {
    vectors,
    /// `output[row, o] += Σ_i input[row, i] weights[i, o]` for some columns `o`. Rows of `input` have `width` numbers,
    /// those of `output` have the weights' stride.
    pub(in super::super) fn project<'a, L>(
        rows: usize,
        weights: Weights<'a>,
        columns: Range<usize>,
        input: &'a [Lanes<L>],
        width: usize,
        output: &'a mut [Lanes<L>],
    ) {
        in_tiles!(vectors, rows, columns, project_tile, weights, input, width, output);
    }
}

#[inline(always)]
fn project_tile<V: Vectors, const R: usize, const C: usize, const L: usize>(
    vectors: V,
    row: usize,
    column: usize,
    weights: Weights<'_>,
    input: &[Lanes<L>],
    width: usize,
    output: &mut [Lanes<L>],
) {
    let Weights {
        values,
        inputs,
        stride,
    } = weights;
    let first = row * stride + column;
    let mut sums = Tile::<V, R, C>::read(vectors, output, first, stride);
    let mut rows = [&[][..]; R];
    for r in 0..R {
        rows[r] = &input[(row + r) * width..][..inputs];
    }
    // Without divisions, which take as long as some inputs.
    let mut weights = &values[column..];
    for i in 0..inputs {
        let weight = &weights[..C];
        weights = weights.get(stride..).unwrap_or_default();
        let mut inputs = [vectors.splat(0.0); R];
        for r in 0..R {
            inputs[r] = vectors.load(&rows[r][i]);
        }
        for c in 0..C {
            let weight = vectors.splat(weight[c]);
            for r in 0..R {
                vectors.add_product(&mut sums.0[r][c], weight, inputs[r]);
            }
        }
    }
    sums.write(vectors, output, first, stride);
}

for_each_set! {
    vectors,
    /// `output[row, i] += Σ_o weights[i, o] input[row, o]` over some columns `o`. Rows of `output` have `width` numbers,
    /// those of `input` have the weights' stride.
    pub(in super::super) fn project_back<'a, L>(
        rows: usize,
        weights: Weights<'a>,
        columns: Range<usize>,
        input: &'a [Lanes<L>],
        width: usize,
        output: &'a mut [Lanes<L>],
    ) {
        // Rows of weights are padded to whole tiles.
        let inputs = 0..weights.inputs.next_multiple_of(8);
        in_tiles!(vectors, rows, inputs, project_tile_back, weights, columns.clone(), input, width, output);
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn project_tile_back<V: Vectors, const R: usize, const C: usize, const L: usize>(
    vectors: V,
    row: usize,
    i: usize,
    weights: Weights<'_>,
    columns: Range<usize>,
    input: &[Lanes<L>],
    width: usize,
    output: &mut [Lanes<L>],
) {
    let Weights { values, stride, .. } = weights;
    let (count, first) = (columns.len(), row * width + i);
    let mut weight = [&[][..]; C];
    for c in 0..C {
        weight[c] = &values[(i + c) * stride + columns.start..][..count];
    }
    let mut sums = Tile::<V, R, C>::read(vectors, output, first, width);
    let mut rows = [&[][..]; R];
    for r in 0..R {
        rows[r] = &input[(row + r) * stride + columns.start..][..count];
    }
    for o in 0..count {
        let mut inputs = [vectors.splat(0.0); R];
        for r in 0..R {
            inputs[r] = vectors.load(&rows[r][o]);
        }
        for c in 0..C {
            let weight = vectors.splat(weight[c][o]);
            for r in 0..R {
                vectors.add_product(&mut sums.0[r][c], weight, inputs[r]);
            }
        }
    }
    sums.write(vectors, output, first, width);
}
