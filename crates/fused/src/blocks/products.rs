//! Products of matrices: of parameters with vectors of samples, one sample per lane; and sums over samples,
//! one column per lane. All but [`multiply`] add to what their output holds.

use core::ops::Range;

use crate::instructions::for_each_set;
use crate::lanes::{LANES, Lanes, ZERO, map};

/// The sums of one or two rows. They are variables of their own, since the compiler keeps a nested array in memory.
struct Tile<const C: usize>([Lanes; C], [Lanes; C]);

impl<const C: usize> Tile<C> {
    const ZERO: Self = Self([ZERO; C], [ZERO; C]);

    #[inline(always)]
    fn read<const R: usize>(values: &[Lanes], first: usize, stride: usize) -> Self {
        let mut tile = Self::ZERO;
        tile.0.copy_from_slice(&values[first..][..C]);
        if R > 1 {
            tile.1.copy_from_slice(&values[first + stride..][..C]);
        }
        tile
    }

    #[inline(always)]
    fn write<const R: usize>(self, values: &mut [Lanes], first: usize, stride: usize) {
        values[first..][..C].copy_from_slice(&self.0);
        if R > 1 {
            values[first + stride..][..C].copy_from_slice(&self.1);
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

/// Calls `tile::<ROWS, COLUMNS>(first row, arguments)` for all rows, two or one at a time. Larger tiles need more
/// registers than AVX2 has.
macro_rules! in_tiles {
    ($rows:expr, $tile:ident, $($arguments:expr),*) => {
        for row in (0..$rows).step_by(2) {
            if row + 1 < $rows {
                $tile::<2, 4>(row, $($arguments),*);
            } else {
                $tile::<1, 8>(row, $($arguments),*);
            }
        }
    };
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
    let [first, second] = core::array::from_fn(|r| &input[r.min(R - 1)][..inputs]);
    for (i, weight) in values.chunks_exact(stride).take(inputs).enumerate() {
        let weight = &weight[column..][..C];
        let weight: [f32; C] = core::array::from_fn(|c| weight[c]);
        accumulate(&mut sums.0, weight, first[i]);
        if R > 1 {
            accumulate(&mut sums.1, weight, second[i]);
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
        let [first, second] = core::array::from_fn(|r| &input[r.min(R - 1)][..count]);
        for o in 0..count {
            let weight: [f32; C] = core::array::from_fn(|c| weight[c][o]);
            accumulate(&mut sums.0, weight, first[o]);
            if R > 1 {
                accumulate(&mut sums.1, weight, second[o]);
            }
        }
        sums.write::<R>(output, row * width + i, width);
        i += C;
    }
}

for_each_set! {
    transpose,
    /// Copies the samples from the lanes to rows: `[row, width]` lanes to `[row, sample, width]`.
    pub(super) fn to_rows<'a>(lanes: &'a [Lanes], rows: &'a mut [f32], width: usize) {
        let rows = rows.chunks_exact_mut(LANES * width);
        for (lanes, rows) in lanes.chunks_exact(width).zip(rows) {
            for column in (0..width).step_by(LANES) {
                let mut block = [ZERO; LANES];
                block.copy_from_slice(&lanes[column..][..LANES]);
                for (lane, numbers) in transpose(block).iter().enumerate() {
                    rows[lane * width + column..][..LANES].copy_from_slice(numbers);
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

/// Vectors of samples, one sample per lane, as a matrix.
#[derive(Clone, Copy)]
pub(super) enum Grid<'a> {
    /// Entry `(i, j)` is `values[i * stride + j]`.
    Of(&'a [Lanes], usize),
    /// Entry `(i, j)` is `values[j * stride + i]`.
    Transposed(&'a [Lanes], usize),
}

for_each_set! {
    /// `output[i * stride + j] = factor Σ_t left(i, t) right(t, j)`, one sample per lane.
    pub(super) fn multiply<'a>(
        sizes: [usize; 3],
        left: Grid<'a>,
        right: Grid<'a>,
        factor: f32,
        output: &'a mut [Lanes],
        stride: usize,
    ) {
        let into = (factor, output, stride);
        match (left, right) {
            (Grid::Of(left, l), Grid::Of(right, r)) => {
                multiply_all(sizes, Apart(left, l), SideBySide(right, r), into);
            }
            (Grid::Of(left, l), Grid::Transposed(right, r)) => {
                multiply_all(sizes, Apart(left, l), Apart(right, r), into);
            }
            (Grid::Transposed(left, l), Grid::Of(right, r)) => {
                multiply_all(sizes, SideBySide(left, l), SideBySide(right, r), into);
            }
            (Grid::Transposed(left, l), Grid::Transposed(right, r)) => {
                multiply_all(sizes, SideBySide(left, l), Apart(right, r), into);
            }
        }
    }
}

/// Reads some neighbours of a row or column, for one term of the sum after the other.
trait Neighbours: Copy {
    fn terms<const N: usize>(self, first: usize, count: usize) -> impl Iterator<Item = [Lanes; N]>;
}

/// Neighbours are a stride apart in memory, and terms side by side.
#[derive(Clone, Copy)]
struct Apart<'a>(&'a [Lanes], usize);

impl Neighbours for Apart<'_> {
    #[inline(always)]
    fn terms<const N: usize>(self, first: usize, count: usize) -> impl Iterator<Item = [Lanes; N]> {
        let Self(values, stride) = self;
        let mut rows = [&[][..]; N];
        for n in 0..N {
            rows[n] = &values[(first + n) * stride..][..count];
        }
        (0..count).map(move |t| {
            let mut term = [ZERO; N];
            for n in 0..N {
                term[n] = rows[n][t];
            }
            term
        })
    }
}

/// Neighbours are side by side in memory, and terms a stride apart.
#[derive(Clone, Copy)]
struct SideBySide<'a>(&'a [Lanes], usize);

impl Neighbours for SideBySide<'_> {
    #[inline(always)]
    fn terms<const N: usize>(self, first: usize, count: usize) -> impl Iterator<Item = [Lanes; N]> {
        let Self(values, stride) = self;
        (0..count).map(move |t| {
            let mut term = [ZERO; N];
            term.copy_from_slice(&values[t * stride + first..][..N]);
            term
        })
    }
}

/// The factor of the sums, and where they go: the output and its stride.
type Target<'a> = (f32, &'a mut [Lanes], usize);

#[inline(always)]
fn multiply_all(
    sizes: [usize; 3],
    left: impl Neighbours,
    right: impl Neighbours,
    into: Target<'_>,
) {
    match (sizes[0], sizes[2]) {
        (1, 0..4) => multiply_tiles::<1, 1>(sizes, left, right, into),
        (_, 0..4) => multiply_tiles::<2, 1>(sizes, left, right, into),
        (1, _) => multiply_tiles::<1, 4>(sizes, left, right, into),
        _ => multiply_tiles::<2, 4>(sizes, left, right, into),
    }
}

/// In tiles of `R` rows and `C` columns. The last ones overlap others where these do not divide the sizes: what is
/// computed twice costs less than smaller tiles.
#[inline(always)]
fn multiply_tiles<const R: usize, const C: usize>(
    [rows, inner, columns]: [usize; 3],
    left: impl Neighbours,
    right: impl Neighbours,
    (factor, output, stride): Target<'_>,
) {
    for i in (0..rows).step_by(R).map(|i| i.min(rows - R)) {
        for j in (0..columns).step_by(C).map(|j| j.min(columns - C)) {
            let mut sums = Tile::<C>::ZERO;
            for (left, right) in left.terms::<R>(i, inner).zip(right.terms::<C>(j, inner)) {
                accumulate_lanes(&mut sums.0, left[0], right);
                if R > 1 {
                    accumulate_lanes(&mut sums.1, left[R - 1], right);
                }
            }
            let sums = Tile(
                sums.0.map(|sum| map(sum, |sum| factor * sum)),
                sums.1.map(|sum| map(sum, |sum| factor * sum)),
            );
            sums.write::<R>(output, i * stride + j, stride);
        }
    }
}
