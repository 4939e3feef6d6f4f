//! Products of matrices: of parameters with vectors of samples, one sample per lane; and sums over samples,
//! one column per lane.

use core::ops::Range;

use crate::lanes::{LANES, Lanes, ZERO};

/// Calls `tile(first, count)` for all rows, three, two or one at a time.
macro_rules! in_tiles {
    ($rows:expr, $tile:ident, $($arguments:tt)*) => {{
        let (mut row, rows) = (0, $rows);
        while row < rows {
            match rows - row {
                1 => { $tile::<1, 8>(row, $($arguments)*); row += 1; }
                2 | 4 => { $tile::<2, 4>(row, $($arguments)*); row += 2; }
                _ => { $tile::<3, 4>(row, $($arguments)*); row += 3; }
            }
        }
    }};
}

/// A matrix of parameters. `[inputs, stride]`
#[derive(Clone, Copy)]
pub(super) struct Weights<'a> {
    pub(super) values: &'a [f32],
    pub(super) inputs: usize,
    pub(super) stride: usize,
}

/// `output[row, o] = start(row, o) + Σ_i input[row, i] weights[i, o]` for some columns `o`. Rows of `input` have `width` numbers, those of `output` have
/// the weights' stride.
#[inline(always)]
pub(super) fn project(
    rows: usize,
    weights: Weights<'_>,
    columns: Range<usize>,
    input: &[Lanes],
    width: usize,
    start: impl Fn(usize, usize) -> Lanes + Copy,
    output: &mut [Lanes],
) {
    in_tiles!(rows, project_rows, weights, columns.clone(), input, width, start, output);
}

#[inline(always)]
fn project_rows<const R: usize, const C: usize>(
    row: usize,
    weights: Weights<'_>,
    columns: Range<usize>,
    input: &[Lanes],
    width: usize,
    start: impl Fn(usize, usize) -> Lanes + Copy,
    output: &mut [Lanes],
) {
    let Weights { values, inputs, stride } = weights;
    let input: [&[Lanes]; R] = core::array::from_fn(|r| &input[(row + r) * width..][..inputs]);
    let mut column = columns.start;
    while column + C <= columns.end {
        project_tile::<R, C>(row, column, values, stride, &input, start, output);
        column += C;
    }
    while column + 4 <= columns.end {
        project_tile::<R, 4>(row, column, values, stride, &input, start, output);
        column += 4;
    }
    while column < columns.end {
        project_tile::<R, 1>(row, column, values, stride, &input, start, output);
        column += 1;
    }
}

#[inline(always)]
fn project_tile<const R: usize, const C: usize>(
    row: usize,
    column: usize,
    values: &[f32],
    stride: usize,
    input: &[&[Lanes]; R],
    start: impl Fn(usize, usize) -> Lanes + Copy,
    output: &mut [Lanes],
) {
    let mut sums = [[ZERO; C]; R];
    for r in 0..R {
        for c in 0..C {
            sums[r][c] = start(row + r, column + c);
        }
    }
    for i in 0..input[0].len() {
        let weight = &values[i * stride + column..][..C];
        for r in 0..R {
            let x = input[r][i];
            for c in 0..C {
                for l in 0..LANES {
                    sums[r][c][l] += weight[c] * x[l];
                }
            }
        }
    }
    for r in 0..R {
        output[(row + r) * stride + column..][..C].copy_from_slice(&sums[r]);
    }
}

/// `output[row, i] = Σ_o weights[i, o] input[row, o]` over some columns `o`, added to the present value if `add`.
/// Rows of `output` have `width` numbers, those of `input` have the weights' stride.
#[inline(always)]
pub(super) fn project_back(
    rows: usize,
    weights: Weights<'_>,
    columns: Range<usize>,
    input: &[Lanes],
    width: usize,
    output: &mut [Lanes],
    add: bool,
) {
    in_tiles!(rows, project_back_rows, weights, columns.clone(), input, width, output, add);
}

#[inline(always)]
fn project_back_rows<const R: usize, const C: usize>(
    row: usize,
    weights: Weights<'_>,
    columns: Range<usize>,
    input: &[Lanes],
    width: usize,
    output: &mut [Lanes],
    add: bool,
) {
    let Weights { values, inputs, stride } = weights;
    let count = columns.len();
    let input: [&[Lanes]; R] =
        core::array::from_fn(|r| &input[(row + r) * stride + columns.start..][..count]);
    let mut i = 0;
    while i < inputs {
        let weight: [&[f32]; C] =
            core::array::from_fn(|c| &values[(i + c) * stride + columns.start..][..count]);
        let mut sums = [[ZERO; C]; R];
        if add {
            for r in 0..R {
                sums[r].copy_from_slice(&output[(row + r) * width + i..][..C]);
            }
        }
        for o in 0..count {
            for r in 0..R {
                let x = input[r][o];
                for c in 0..C {
                    for l in 0..LANES {
                        sums[r][c][l] += weight[c][o] * x[l];
                    }
                }
            }
        }
        for r in 0..R {
            output[(row + r) * width + i..][..C].copy_from_slice(&sums[r]);
        }
        i += C;
    }
}

/// Copies the samples from the lanes to rows: `[row, width]` lanes to `[row, sample, width]`.
#[inline(always)]
pub(super) fn to_rows(lanes: &[Lanes], rows: &mut [f32], width: usize) {
    let count = lanes.len() / width;
    for row in 0..count {
        let lanes = &lanes[row * width..][..width];
        let rows = &mut rows[row * LANES * width..][..LANES * width];
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

/// `sums[i, o] += factor Σ_row left[row, i] right[row, o]` for some columns `o`, in whole vectors.
#[inline(always)]
pub(super) fn add_products(
    left: &[f32],
    left_width: usize,
    right: &[f32],
    right_width: usize,
    columns: Range<usize>,
    factor: f32,
    sums: &mut [f32],
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
    const I: usize = 4;
    let mut i = 0;
    while i < left_width {
        let mut tile = [[ZERO; C]; I];
        for (left, right) in left.chunks_exact(left_width).zip(right.chunks_exact(right_width)) {
            let left = &left[i..][..I];
            let right = &right[column..][..C * LANES];
            for k in 0..I {
                for c in 0..C {
                    for l in 0..LANES {
                        tile[k][c][l] += left[k] * right[c * LANES + l];
                    }
                }
            }
        }
        for k in 0..I {
            let sums = &mut sums[(i + k) * right_width + column..][..C * LANES];
            for c in 0..C {
                for l in 0..LANES {
                    sums[c * LANES + l] += factor * tile[k][c][l];
                }
            }
        }
        i += I;
    }
}

/// Vectors of samples, one sample per lane, as a matrix: entry `(i, j)` is `values[i * row + j * column]`.
#[derive(Clone, Copy)]
pub(super) struct Grid<'a> {
    pub(super) values: &'a [Lanes],
    pub(super) row: usize,
    pub(super) column: usize,
}

/// `output[i * stride + j] = start + factor Σ_t left(i, t) right(t, j)`, one sample per lane; `start` is the present
/// value if `add`, else 0.
#[inline(always)]
pub(super) fn multiply(
    [rows, inner, columns]: [usize; 3],
    left: Grid<'_>,
    right: Grid<'_>,
    factor: f32,
    output: &mut [Lanes],
    stride: usize,
    add: bool,
) {
    let mut i = 0;
    while i < rows {
        if i + 2 <= rows {
            multiply_rows::<2>(i, inner, columns, left, right, factor, output, stride, add);
            i += 2;
        } else {
            multiply_rows::<1>(i, inner, columns, left, right, factor, output, stride, add);
            i += 1;
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
    add: bool,
) {
    let mut j = 0;
    while j < columns {
        match columns - j {
            1 => { multiply_tile::<R, 1>(i, j, inner, left, right, factor, output, stride, add); j += 1; }
            2 => { multiply_tile::<R, 2>(i, j, inner, left, right, factor, output, stride, add); j += 2; }
            3 => { multiply_tile::<R, 3>(i, j, inner, left, right, factor, output, stride, add); j += 3; }
            _ => { multiply_tile::<R, 4>(i, j, inner, left, right, factor, output, stride, add); j += 4; }
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
    add: bool,
) {
    let mut sums = [[ZERO; C]; R];
    for t in 0..inner {
        let right: [Lanes; C] =
            core::array::from_fn(|c| right.values[t * right.row + (j + c) * right.column]);
        for r in 0..R {
            let left = left.values[(i + r) * left.row + t * left.column];
            for c in 0..C {
                for l in 0..LANES {
                    sums[r][c][l] += left[l] * right[c][l];
                }
            }
        }
    }
    for r in 0..R {
        let output = &mut output[(i + r) * stride + j..][..C];
        for c in 0..C {
            for l in 0..LANES {
                let product = factor * sums[r][c][l];
                output[c][l] = if add { output[c][l] + product } else { product };
            }
        }
    }
}
