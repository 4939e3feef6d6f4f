//! Products of matrices: of parameters with vectors of samples, one sample per lane; and sums over samples,
//! one column per lane. All but [`multiply`] add to what their output holds.

use core::ops::Range;

use crate::instructions::for_each_set;
use crate::lanes::{LANES, Lanes};
use crate::vectors::{Baseline, Vectors, rows_of_samples};

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

/// A matrix of parameters. `[inputs, stride]`
#[derive(Clone, Copy)]
pub(super) struct Weights<'a> {
    pub(super) values: &'a [f32],
    pub(super) inputs: usize,
    pub(super) stride: usize,
}

/// Calls `tile::<ROWS, COLUMNS>(first row, first column, arguments)` for all rows, two or one at a time, and all columns, as
/// many at a time as the registers hold.
macro_rules! in_tiles {
    ($vectors:ident: $kind:ident, $rows:expr, $columns:expr, $tile:ident, $($arguments:expr),*) => {
        let columns: Range<usize> = $columns;
        for row in (0..$rows).step_by(2) {
            let mut column = columns.start;
            if row + 1 < $rows {
                while $kind::SUMS >= 16 && column + 8 <= columns.end {
                    $tile::<$kind, 2, 8, L>($vectors, row, column, $($arguments),*);
                    column += 8;
                }
                while column + 4 <= columns.end {
                    $tile::<$kind, 2, 4, L>($vectors, row, column, $($arguments),*);
                    column += 4;
                }
                while column < columns.end {
                    $tile::<$kind, 2, 1, L>($vectors, row, column, $($arguments),*);
                    column += 1;
                }
            } else {
                while column + 8 <= columns.end {
                    $tile::<$kind, 1, 8, L>($vectors, row, column, $($arguments),*);
                    column += 8;
                }
                while column < columns.end {
                    $tile::<$kind, 1, 1, L>($vectors, row, column, $($arguments),*);
                    column += 1;
                }
            }
        }
    };
}

for_each_set! {
    vectors,
    /// `output[row, o] += Σ_i input[row, i] weights[i, o]` for some columns `o`. Rows of `input` have `width` numbers,
    /// those of `output` have the weights' stride.
    pub(super) fn project<'a, L>(
        rows: usize,
        weights: Weights<'a>,
        columns: Range<usize>,
        input: &'a [Lanes<L>],
        width: usize,
        output: &'a mut [Lanes<L>],
    ) {
        project_all(vectors, rows, weights, columns, input, width, output);
    }
}

#[inline(always)]
fn project_all<V: Vectors, const L: usize>(
    vectors: V,
    rows: usize,
    weights: Weights<'_>,
    columns: Range<usize>,
    input: &[Lanes<L>],
    width: usize,
    output: &mut [Lanes<L>],
) {
    in_tiles!(vectors: V, rows, columns.clone(), project_tile, weights, input, width, output);
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
    pub(super) fn project_back<'a, L>(
        rows: usize,
        weights: Weights<'a>,
        columns: Range<usize>,
        input: &'a [Lanes<L>],
        width: usize,
        output: &'a mut [Lanes<L>],
    ) {
        project_all_back(vectors, rows, weights, columns, input, width, output);
    }
}

#[inline(always)]
fn project_all_back<V: Vectors, const L: usize>(
    vectors: V,
    rows: usize,
    weights: Weights<'_>,
    columns: Range<usize>,
    input: &[Lanes<L>],
    width: usize,
    output: &mut [Lanes<L>],
) {
    // Rows of weights are padded to whole tiles.
    let inputs = 0..weights.inputs.next_multiple_of(8);
    in_tiles!(vectors: V, rows, inputs.clone(), project_tile_back, weights, columns.clone(), input, width, output);
}

#[inline(always)]
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

for_each_set! {
    vectors,
    /// Copies the samples from the lanes to rows: `[row, width]` lanes to `[eight samples, row, sample, width]`.
    pub(super) fn to_rows<'a, L>(lanes: &'a [Lanes<L>], rows: &'a mut [f32], width: usize) {
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
}

/// Rows whose products are summed. Each `height` rows have a sum of their own.
#[derive(Clone, Copy, Default)]
pub(super) struct Block<'a> {
    pub(super) left: &'a [f32],
    pub(super) right: &'a [f32],
    pub(super) height: usize,
}

for_each_set! {
    vectors,
    /// `sums[i, o] += factor Σ_row left[row, i] right[row, o]` for some `i` and some columns `o`, in whole vectors of eight. The
    /// sums of blocks are added one after the other. `widths` are those of `left` and `right`.
    pub(super) fn add_products<'a>(
        blocks: &'a [Block<'a>],
        widths: [usize; 2],
        inputs: Range<usize>,
        columns: Range<usize>,
        factor: f32,
        sums: &'a mut [f32],
    ) {
        let rows = Rows { blocks, widths, inputs };
        add_all(vectors, &rows, columns, factor, sums);
    }
}

/// Rows whose products are summed, and the inputs of which they are.
struct Rows<'a> {
    blocks: &'a [Block<'a>],
    widths: [usize; 2],
    inputs: Range<usize>,
}

#[inline(always)]
fn add_all<V: Vectors>(
    vectors: V,
    rows: &Rows<'_>,
    columns: Range<usize>,
    factor: f32,
    sums: &mut [f32],
) {
    let mut column = columns.start;
    while column < columns.end {
        if column + 2 * V::LANES <= columns.end {
            add_columns::<V, 2>(vectors, rows, column, factor, sums);
            column += 2 * V::LANES;
        } else if V::LANES == LANES || column + V::LANES <= columns.end {
            add_columns::<V, 1>(vectors, rows, column, factor, sums);
            column += V::LANES;
        } else {
            add_columns::<Baseline, 1>(Baseline, rows, column, factor, sums);
            column += LANES;
        }
    }
}

/// Columns that `C` vectors hold.
#[inline(always)]
fn add_columns<V: Vectors, const C: usize>(
    vectors: V,
    rows: &Rows<'_>,
    column: usize,
    factor: f32,
    sums: &mut [f32],
) {
    // Widths are multiples of eight.
    if V::SUMS >= 16 {
        for i in rows.inputs.clone().step_by(8) {
            add_tile::<V, C, 8>(vectors, rows, i, column, factor, sums);
        }
    } else {
        for i in rows.inputs.clone().step_by(4) {
            add_tile::<V, C, 4>(vectors, rows, i, column, factor, sums);
        }
    }
}

#[inline(always)]
fn add_tile<V: Vectors, const C: usize, const I: usize>(
    vectors: V,
    rows: &Rows<'_>,
    i: usize,
    column: usize,
    factor: f32,
    sums: &mut [f32],
) {
    let [left_width, right_width] = rows.widths;
    let first = (i - rows.inputs.start) * right_width + column;
    let factor = vectors.splat(factor);
    let mut totals = Tile::<V, I, C>::zero(vectors).0;
    for k in 0..I {
        for c in 0..C {
            totals[k][c] = vectors.load(&sums[first + k * right_width + c * V::LANES..]);
        }
    }
    for block in rows.blocks {
        // Without divisions, which take as long as some rows.
        let (mut left, mut right) = (block.left, block.right);
        while !left.is_empty() {
            let mut tile = Tile::<V, I, C>::zero(vectors).0;
            for _ in 0..block.height {
                let (of_left, of_right) = (&left[i..][..I], &right[column..][..C * V::LANES]);
                let mut own = [vectors.splat(0.0); C];
                for c in 0..C {
                    own[c] = vectors.load(&of_right[c * V::LANES..]);
                }
                for k in 0..I {
                    let left = vectors.splat(of_left[k]);
                    for c in 0..C {
                        vectors.add_product(&mut tile[k][c], left, own[c]);
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
            let own = &mut sums[first + k * right_width + c * V::LANES..];
            vectors.store(totals[k][c], own);
        }
    }
}

/// Vectors of samples, one sample per lane, as a matrix.
#[derive(Clone, Copy)]
pub(super) enum Grid<'a, const L: usize> {
    /// Entry `(i, j)` is `values[i * stride + j]`.
    Of(&'a [Lanes<L>], usize),
    /// Entry `(i, j)` is `values[j * stride + i]`.
    Transposed(&'a [Lanes<L>], usize),
}

/// Where the sums of [`multiply`] go.
pub(super) struct Target<'a, const L: usize> {
    output: &'a mut [Lanes<L>],
    stride: usize,
    factor: f32,
    /// Whether the sums start from what the output holds, and not from zero.
    continues: bool,
}

impl<'a, const L: usize> Target<'a, L> {
    /// Rows that are a stride apart.
    pub(super) fn of(output: &'a mut [Lanes<L>], stride: usize) -> Self {
        Self {
            output,
            stride,
            factor: 1.0,
            continues: false,
        }
    }

    /// Multiplies the sums by a factor.
    pub(super) fn times(self, factor: f32) -> Self {
        Self { factor, ..self }
    }

    /// Adds to what the output holds, if it holds the start of the sums.
    pub(super) fn from_what_it_holds(self, continues: bool) -> Self {
        Self { continues, ..self }
    }
}

for_each_set! {
    vectors,
    /// `output[i * stride + j] = factor Σ_t left(i, t) right(t, j)`, one sample per lane.
    pub(super) fn multiply<'a, L>(
        sizes: [usize; 3],
        left: Grid<'a, L>,
        right: Grid<'a, L>,
        into: Target<'a, L>,
    ) {
        match (left, right) {
            (Grid::Of(left, l), Grid::Of(right, r)) => {
                multiply_all(vectors, sizes, Apart(left, l), SideBySide(right, r), into);
            }
            (Grid::Of(left, l), Grid::Transposed(right, r)) => {
                multiply_all(vectors, sizes, Apart(left, l), Apart(right, r), into);
            }
            (Grid::Transposed(left, l), Grid::Of(right, r)) => {
                multiply_all(vectors, sizes, SideBySide(left, l), SideBySide(right, r), into);
            }
            (Grid::Transposed(left, l), Grid::Transposed(right, r)) => {
                multiply_all(vectors, sizes, SideBySide(left, l), Apart(right, r), into);
            }
        }
    }
}

/// A matrix, some neighbours of which are read for one term of a sum after the other. Its functions are no closures, since the
/// compiler inlines no intrinsic into these.
trait Neighbours: Copy {
    /// Some neighbours.
    type Of<const N: usize>: Copy;

    /// `N` neighbours from `first` on, of `count` terms.
    fn from<const N: usize>(self, first: usize, count: usize) -> Self::Of<N>;

    /// Their numbers in a term.
    fn term<V: Vectors, const N: usize>(
        vectors: V,
        neighbours: Self::Of<N>,
        t: usize,
    ) -> [V::Vector; N];
}

/// Neighbours are a stride apart in memory, and terms side by side.
#[derive(Clone, Copy)]
struct Apart<'a, const L: usize>(&'a [Lanes<L>], usize);

impl<'a, const L: usize> Neighbours for Apart<'a, L> {
    type Of<const N: usize> = [&'a [Lanes<L>]; N];

    #[inline(always)]
    fn from<const N: usize>(self, first: usize, count: usize) -> Self::Of<N> {
        let Self(values, stride) = self;
        let mut rows = [&[][..]; N];
        for n in 0..N {
            rows[n] = &values[(first + n) * stride..][..count];
        }
        rows
    }

    #[inline(always)]
    fn term<V: Vectors, const N: usize>(vectors: V, rows: Self::Of<N>, t: usize) -> [V::Vector; N] {
        let mut term = [vectors.splat(0.0); N];
        for n in 0..N {
            term[n] = vectors.load(&rows[n][t]);
        }
        term
    }
}

/// Neighbours are side by side in memory, and terms a stride apart.
#[derive(Clone, Copy)]
struct SideBySide<'a, const L: usize>(&'a [Lanes<L>], usize);

impl<const L: usize> Neighbours for SideBySide<'_, L> {
    type Of<const N: usize> = Self;

    #[inline(always)]
    fn from<const N: usize>(self, first: usize, _count: usize) -> Self {
        let Self(values, stride) = self;
        Self(&values[first..], stride)
    }

    #[inline(always)]
    fn term<V: Vectors, const N: usize>(
        vectors: V,
        Self(values, stride): Self,
        t: usize,
    ) -> [V::Vector; N] {
        let row = &values[t * stride..][..N];
        let mut term = [vectors.splat(0.0); N];
        for n in 0..N {
            term[n] = vectors.load(&row[n]);
        }
        term
    }
}

/// In tiles of rows and columns. Where the last ones would be smaller, they overlap others: what is computed twice costs less
/// than smaller tiles. Sums that start from the output cannot be computed twice.
#[inline(always)]
fn multiply_all<V: Vectors, A: Neighbours, B: Neighbours, const L: usize>(
    vectors: V,
    [rows, inner, columns]: [usize; 3],
    left: A,
    right: B,
    mut into: Target<'_, L>,
) {
    let mut row = 0;
    while V::SUMS >= 16 && rows - row >= 4 {
        let of = [row, inner, columns];
        multiply_rows::<V, A, B, 4, 4, L>(vectors, of, left, right, &mut into);
        row += 4;
    }
    let may_overlap = rows > 1 && !into.continues;
    while rows - row >= 2 || rows > row && may_overlap {
        let own = row.min(rows - 2);
        multiply_rows::<V, A, B, 2, 4, L>(vectors, [own, inner, columns], left, right, &mut into);
        row = own + 2;
    }
    if row < rows {
        multiply_rows::<V, A, B, 1, 4, L>(vectors, [row, inner, columns], left, right, &mut into);
    }
}

/// All columns of `R` rows.
#[inline(always)]
fn multiply_rows<
    V: Vectors,
    A: Neighbours,
    B: Neighbours,
    const R: usize,
    const C: usize,
    const L: usize,
>(
    vectors: V,
    [row, inner, columns]: [usize; 3],
    left: A,
    right: B,
    into: &mut Target<'_, L>,
) {
    let mut column = 0;
    let may_overlap = columns > C && !into.continues;
    while columns - column >= C || columns > column && may_overlap {
        let own = column.min(columns - C);
        multiply_tile::<V, A, B, R, C, L>(vectors, [row, inner, own], left, right, into);
        column = own + C;
    }
    while column < columns {
        multiply_tile::<V, A, B, R, 1, L>(vectors, [row, inner, column], left, right, into);
        column += 1;
    }
}

#[inline(always)]
fn multiply_tile<
    V: Vectors,
    A: Neighbours,
    B: Neighbours,
    const R: usize,
    const C: usize,
    const L: usize,
>(
    vectors: V,
    [row, inner, column]: [usize; 3],
    left: A,
    right: B,
    into: &mut Target<'_, L>,
) {
    let first = row * into.stride + column;
    let mut sums = if into.continues {
        Tile::<V, R, C>::read(vectors, into.output, first, into.stride)
    } else {
        Tile::<V, R, C>::zero(vectors)
    };
    let (left, right) = (left.from::<R>(row, inner), right.from::<C>(column, inner));
    for t in 0..inner {
        let left = A::term::<V, R>(vectors, left, t);
        let right = B::term::<V, C>(vectors, right, t);
        for r in 0..R {
            for c in 0..C {
                vectors.add_product(&mut sums.0[r][c], left[r], right[c]);
            }
        }
    }
    let factor = vectors.splat(into.factor);
    for r in 0..R {
        for c in 0..C {
            sums.0[r][c] = vectors.product(factor, sums.0[r][c]);
        }
    }
    sums.write(vectors, into.output, first, into.stride);
}
