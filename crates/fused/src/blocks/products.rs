//! Products of matrices: of parameters with vectors of samples, one sample per lane; and sums over samples,
//! one column per lane. Every function adds to what its output holds.

use core::ops::Range;

use crate::instructions::for_each_set;
use crate::lanes::{LANES, Lanes, ZERO};

/// The sums of up to three rows. They are three variables, since the compiler keeps a nested array in memory.
struct Tile<const C: usize>([Lanes; C], [Lanes; C], [Lanes; C]);

impl<const C: usize> Tile<C> {
    const ZERO: Self = Self([ZERO; C], [ZERO; C], [ZERO; C]);

    #[inline(always)]
    fn read<const R: usize>(values: &[Lanes], first: usize, stride: usize) -> Self {
        let mut tile = Self::ZERO;
        tile.0.copy_from_slice(&values[first..][..C]);
        if R > 1 {
            tile.1.copy_from_slice(&values[first + stride..][..C]);
        }
        if R > 2 {
            tile.2.copy_from_slice(&values[first + 2 * stride..][..C]);
        }
        tile
    }

    #[inline(always)]
    fn write<const R: usize>(self, values: &mut [Lanes], first: usize, stride: usize) {
        values[first..][..C].copy_from_slice(&self.0);
        if R > 1 {
            values[first + stride..][..C].copy_from_slice(&self.1);
        }
        if R > 2 {
            values[first + 2 * stride..][..C].copy_from_slice(&self.2);
        }
    }
}

/// `sums[c] += weights[c] x`
#[inline(always)]
fn accumulate<const C: usize>(sums: &mut [Lanes; C], weights: [f32; C], x: Lanes) {
    for c in 0..C {
        for l in 0..LANES {
            sums[c][l] += weights[c] * x[l];
        }
    }
}

/// `sums[c] += x ⊙ ys[c]`
#[inline(always)]
fn accumulate_lanes<const C: usize>(sums: &mut [Lanes; C], x: Lanes, ys: [Lanes; C]) {
    for c in 0..C {
        for l in 0..LANES {
            sums[c][l] += x[l] * ys[c][l];
        }
    }
}

/// A matrix of parameters. `[inputs, stride]`
#[derive(Clone, Copy)]
pub(super) struct Weights<'a> {
    pub(super) values: &'a [f32],
    pub(super) inputs: usize,
    pub(super) stride: usize,
}

/// Calls `tile::<ROWS, COLUMNS>(first row, arguments)` for all rows, three, two or one at a time.
macro_rules! in_tiles {
    ($rows:expr, $tile:ident, $($arguments:expr),*) => {{
        let (mut row, rows) = (0, $rows);
        while row < rows {
            match rows - row {
                1 => { $tile::<1, 8>(row, $($arguments),*); row += 1; }
                2 | 4 => { $tile::<2, 4>(row, $($arguments),*); row += 2; }
                _ => { $tile::<3, 4>(row, $($arguments),*); row += 3; }
            }
        }
    }};
}

for_each_set! {
    /// `output[row, o] += Σ_i input[row, i] weights[i, o]` for some columns `o`. Rows of `input` have `width` numbers,
    /// those of `output` have the weights' stride.
    pub(super) fn project<'a>(
        rows: usize,
        weights: Weights<'a>,
        columns: Range<usize>,
        input: &'a [Lanes],
        width: usize,
        output: &'a mut [Lanes],
    ) {
        in_tiles!(rows, project_rows, weights, columns.clone(), input, width, output);
    }
}

#[inline(always)]
fn project_rows<const R: usize, const C: usize>(
    row: usize,
    weights: Weights<'_>,
    columns: Range<usize>,
    input: &[Lanes],
    width: usize,
    output: &mut [Lanes],
) {
    let Weights {
        values,
        inputs,
        stride,
    } = weights;
    let input: [&[Lanes]; R] = core::array::from_fn(|r| &input[(row + r) * width..][..inputs]);
    let mut column = columns.start;
    while column + C <= columns.end {
        project_tile::<R, C>(row, column, values, stride, inputs, &input, output);
        column += C;
    }
    while column < columns.end {
        project_tile::<R, 1>(row, column, values, stride, inputs, &input, output);
        column += 1;
    }
}

#[inline(always)]
fn project_tile<const R: usize, const C: usize>(
    row: usize,
    column: usize,
    values: &[f32],
    stride: usize,
    inputs: usize,
    input: &[&[Lanes]; R],
    output: &mut [Lanes],
) {
    let mut sums = Tile::<C>::read::<R>(output, row * stride + column, stride);
    let [first, second, third] = core::array::from_fn(|r| &input[r.min(R - 1)][..inputs]);
    for (i, weight) in values.chunks_exact(stride).take(inputs).enumerate() {
        let weight = &weight[column..][..C];
        let weight: [f32; C] = core::array::from_fn(|c| weight[c]);
        accumulate(&mut sums.0, weight, first[i]);
        if R > 1 {
            accumulate(&mut sums.1, weight, second[i]);
        }
        if R > 2 {
            accumulate(&mut sums.2, weight, third[i]);
        }
    }
    sums.write::<R>(output, row * stride + column, stride);
}

for_each_set! {
    /// `output[row, i] += Σ_o weights[i, o] input[row, o]` over some columns `o`. Rows of `output` have `width` numbers,
    /// those of `input` have the weights' stride.
    pub(super) fn project_back<'a>(
        rows: usize,
        weights: Weights<'a>,
        columns: Range<usize>,
        input: &'a [Lanes],
        width: usize,
        output: &'a mut [Lanes],
    ) {
        in_tiles!(rows, project_back_rows, weights, columns.clone(), input, width, output);
    }
}

#[inline(always)]
fn project_back_rows<const R: usize, const C: usize>(
    row: usize,
    weights: Weights<'_>,
    columns: Range<usize>,
    input: &[Lanes],
    width: usize,
    output: &mut [Lanes],
) {
    let Weights {
        values,
        inputs,
        stride,
    } = weights;
    let count = columns.len();
    let input: [&[Lanes]; R] =
        core::array::from_fn(|r| &input[(row + r) * stride + columns.start..][..count]);
    let mut i = 0;
    // Rows of weights are padded to whole tiles.
    while i < inputs {
        let weight: [&[f32]; C] =
            core::array::from_fn(|c| &values[(i + c) * stride + columns.start..][..count]);
        let mut sums = Tile::<C>::read::<R>(output, row * width + i, width);
        let [first, second, third] = core::array::from_fn(|r| &input[r.min(R - 1)][..count]);
        for o in 0..count {
            let weight: [f32; C] = core::array::from_fn(|c| weight[c][o]);
            accumulate(&mut sums.0, weight, first[o]);
            if R > 1 {
                accumulate(&mut sums.1, weight, second[o]);
            }
            if R > 2 {
                accumulate(&mut sums.2, weight, third[o]);
            }
        }
        sums.write::<R>(output, row * width + i, width);
        i += C;
    }
}

for_each_set! {
    /// Copies the samples from the lanes to rows: `[row, width]` lanes to `[row, sample, width]`.
    pub(super) fn to_rows<'a>(lanes: &'a [Lanes], rows: &'a mut [f32], width: usize) {
        let rows = rows.chunks_exact_mut(LANES * width);
        for (lanes, rows) in lanes.chunks_exact(width).zip(rows) {
            for column in (0..width).step_by(LANES) {
                let mut block = [ZERO; LANES];
                block.copy_from_slice(&lanes[column..][..LANES]);
                for lane in 0..LANES {
                    let mut vector = ZERO;
                    for i in 0..LANES {
                        vector[i] = block[i][lane];
                    }
                    rows[lane * width + column..][..LANES].copy_from_slice(&vector);
                }
            }
        }
    }
}

for_each_set! {
    /// `sums[i, o] += factor Σ_row left[row, i] right[row, o]` for some columns `o`, in whole vectors.
    pub(super) fn add_products<'a>(
        left: &'a [f32],
        left_width: usize,
        right: &'a [f32],
        right_width: usize,
        columns: Range<usize>,
        factor: f32,
        sums: &'a mut [f32],
    ) {
        let mut column = columns.start;
        while column < columns.end {
            if column + 2 * LANES <= columns.end {
                add_tiles::<2>(left, left_width, right, right_width, column, factor, sums);
                column += 2 * LANES;
            } else {
                add_tiles::<1>(left, left_width, right, right_width, column, factor, sums);
                column += LANES;
            }
        }
    }
}

#[inline(always)]
fn add_tiles<const C: usize>(
    left: &[f32],
    left_width: usize,
    right: &[f32],
    right_width: usize,
    column: usize,
    factor: f32,
    sums: &mut [f32],
) {
    let mut i = 0;
    while i < left_width {
        let mut tile = ([ZERO; C], [ZERO; C], [ZERO; C], [ZERO; C]);
        for (left, right) in left
            .chunks_exact(left_width)
            .zip(right.chunks_exact(right_width))
        {
            let left = &left[i..][..4];
            let right = &right[column..][..C * LANES];
            let right: [Lanes; C] = core::array::from_fn(|c| {
                let mut vector = ZERO;
                vector.copy_from_slice(&right[c * LANES..][..LANES]);
                vector
            });
            accumulate_lanes(&mut tile.0, [left[0]; LANES], right);
            accumulate_lanes(&mut tile.1, [left[1]; LANES], right);
            accumulate_lanes(&mut tile.2, [left[2]; LANES], right);
            accumulate_lanes(&mut tile.3, [left[3]; LANES], right);
        }
        for (k, tile) in [tile.0, tile.1, tile.2, tile.3].into_iter().enumerate() {
            let sums = &mut sums[(i + k) * right_width + column..][..C * LANES];
            for c in 0..C {
                for l in 0..LANES {
                    sums[c * LANES + l] += factor * tile[c][l];
                }
            }
        }
        i += 4;
    }
}

/// Vectors of samples, one sample per lane, as a matrix: entry `(i, j)` is `values[i * row + j * column]`.
#[derive(Clone, Copy)]
pub(super) struct Grid<'a> {
    values: &'a [Lanes],
    row: usize,
    column: usize,
}

impl<'a> Grid<'a> {
    /// A matrix whose rows start `stride` apart.
    pub(super) fn of(values: &'a [Lanes], stride: usize) -> Self {
        Self {
            values,
            row: stride,
            column: 1,
        }
    }

    /// The transpose of such a matrix.
    pub(super) fn transposed(values: &'a [Lanes], stride: usize) -> Self {
        Self {
            values,
            row: 1,
            column: stride,
        }
    }
}

for_each_set! {
    /// `output[i * stride + j] += factor Σ_t left(i, t) right(t, j)`, one sample per lane.
    pub(super) fn multiply<'a>(
        sizes: [usize; 3],
        left: Grid<'a>,
        right: Grid<'a>,
        factor: f32,
        output: &'a mut [Lanes],
        stride: usize,
    ) {
        let [rows, inner, columns] = sizes;
        let mut i = 0;
        while i < rows {
            if i + 2 <= rows {
                multiply_rows::<2>(i, inner, columns, left, right, factor, output, stride);
                i += 2;
            } else {
                multiply_rows::<1>(i, inner, columns, left, right, factor, output, stride);
                i += 1;
            }
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn multiply_rows<const R: usize>(
    i: usize,
    inner: usize,
    columns: usize,
    left: Grid<'_>,
    right: Grid<'_>,
    factor: f32,
    output: &mut [Lanes],
    stride: usize,
) {
    let mut j = 0;
    while j < columns {
        if j + 4 <= columns {
            multiply_tile::<R, 4>(i, j, inner, left, right, factor, output, stride);
            j += 4;
        } else {
            multiply_tile::<R, 1>(i, j, inner, left, right, factor, output, stride);
            j += 1;
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn multiply_tile<const R: usize, const C: usize>(
    i: usize,
    j: usize,
    inner: usize,
    left: Grid<'_>,
    right: Grid<'_>,
    factor: f32,
    output: &mut [Lanes],
    stride: usize,
) {
    let mut sums = Tile::<C>::ZERO;
    for t in 0..inner {
        let right: [Lanes; C] =
            core::array::from_fn(|c| right.values[t * right.row + (j + c) * right.column]);
        accumulate_lanes(
            &mut sums.0,
            left.values[i * left.row + t * left.column],
            right,
        );
        if R > 1 {
            accumulate_lanes(
                &mut sums.1,
                left.values[(i + 1) * left.row + t * left.column],
                right,
            );
        }
    }
    for (r, sums) in [sums.0, sums.1].into_iter().take(R).enumerate() {
        let output = &mut output[(i + r) * stride + j..][..C];
        for c in 0..C {
            for l in 0..LANES {
                output[c][l] += factor * sums[c][l];
            }
        }
    }
}
