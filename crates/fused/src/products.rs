//! Products of matrices: of vectors of samples, one sample per lane, with each other or with parameters.

use crate::instructions::for_each_isa;
use crate::lanes::{Lanes, map};
use crate::vectors::Vectors;

/// A matrix that [`multiply`] multiplies.
#[derive(Clone, Copy)]
pub(crate) enum Operand<'a, const L: usize> {
    /// Vectors of samples, one sample per lane. Entry `(i, j)` is `values[i * stride + j]`.
    Rows(&'a [Lanes<L>], usize),
    /// Entry `(i, j)` is `values[j * stride + i]`.
    Transposed(&'a [Lanes<L>], usize),
    /// Parameters, the same for all samples; the right factor alone. Entry `(i, j)` is `values[i * stride + j]`.
    Numbers(&'a [f32], usize),
    /// Entry `(i, j)` is `values[j * stride + i]`.
    NumbersTransposed(&'a [f32], usize),
}

/// Where the sums of [`multiply`] go.
pub(crate) struct Target<'a, const L: usize> {
    output: &'a mut [Lanes<L>],
    stride: usize,
    factor: f32,
    start: Start<'a>,
}

/// What sums start from.
#[derive(Clone, Copy)]
enum Start<'a> {
    Zero,
    /// What the output holds.
    Output,
    /// A number for each column.
    Row(&'a [f32]),
}

impl<'a, const L: usize> Target<'a, L> {
    /// Rows that are a stride apart.
    pub(crate) fn of(output: &'a mut [Lanes<L>], stride: usize) -> Self {
        Self {
            output,
            stride,
            factor: 1.0,
            start: Start::Zero,
        }
    }

    /// Multiplies the sums by a factor.
    pub(crate) fn times(self, factor: f32) -> Self {
        Self { factor, ..self }
    }

    /// Adds to what the output holds, if it holds the start of the sums.
    pub(crate) fn on_top(self, continues: bool) -> Self {
        let start = if continues {
            Start::Output
        } else {
            Start::Zero
        };
        Self { start, ..self }
    }

    /// Writes numbers, each times the factor, in place of sums.
    pub(crate) fn copy(self, numbers: &[Lanes<L>]) {
        for (output, number) in self.output.iter_mut().zip(numbers) {
            *output = map(*number, |number| number * self.factor);
        }
    }

    /// Starts the sums of each row from these numbers.
    pub(crate) fn from(self, row: &'a [f32]) -> Self {
        let start = Start::Row(row);
        Self { start, ..self }
    }
}

for_each_isa! {
    vectors,
    /// `output[i * stride + j] = factor Σ_t left(i, t) right(t, j)`, one sample per lane. Two transposed factors are not used
    /// together.
    pub(crate) fn multiply<'a, L>(
        sizes: [usize; 3], left: Operand<'a, L>, right: Operand<'a, L>, into: Target<'a, L>,
    ) {
        match (left, right) {
            (Operand::Rows(left, l), Operand::Rows(right, r)) => {
                multiply_all(vectors, sizes, Strided(left, l), Contiguous(right, r), into);
            }
            (Operand::Rows(left, l), Operand::Transposed(right, r)) => {
                multiply_all(vectors, sizes, Strided(left, l), Strided(right, r), into);
            }
            (Operand::Transposed(left, l), Operand::Rows(right, r)) => {
                multiply_all(vectors, sizes, Contiguous(left, l), Contiguous(right, r), into);
            }
            (Operand::Rows(left, l), Operand::Numbers(right, r)) => {
                multiply_all(vectors, sizes, Strided(left, l), Contiguous(right, r), into);
            }
            (Operand::Rows(left, l), Operand::NumbersTransposed(right, r)) => {
                multiply_all(vectors, sizes, Strided(left, l), Strided(right, r), into);
            }
            _ => unreachable!("no pass multiplies these"),
        }
    }
}

/// An entry of a matrix: a number for each lane, or one for all.
pub(crate) trait Entry: Copy {
    fn vector<V: Vectors>(self, vectors: V) -> V::Vector;
}

impl<const L: usize> Entry for &Lanes<L> {
    #[inline(always)]
    fn vector<V: Vectors>(self, vectors: V) -> V::Vector {
        vectors.load(self)
    }
}

impl Entry for &f32 {
    #[inline(always)]
    fn vector<V: Vectors>(self, vectors: V) -> V::Vector {
        vectors.splat(*self)
    }
}

/// A matrix, some neighbours of which are read for one term of a sum after the other. Its functions are no closures, since the
/// compiler inlines no intrinsic into these.
pub(crate) trait Factor: Copy {
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
pub(crate) struct Strided<'a, E>(pub(crate) &'a [E], pub(crate) usize);

impl<'a, E: Copy> Factor for Strided<'a, E>
where
    for<'b> &'b E: Entry,
{
    type Of<const N: usize> = [&'a [E]; N];

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
            term[n] = rows[n][t].vector(vectors);
        }
        term
    }
}

/// Neighbours are side by side in memory, and terms a stride apart.
#[derive(Clone, Copy)]
pub(crate) struct Contiguous<'a, E>(pub(crate) &'a [E], pub(crate) usize);

impl<E: Copy> Factor for Contiguous<'_, E>
where
    for<'b> &'b E: Entry,
{
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
            term[n] = row[n].vector(vectors);
        }
        term
    }
}

/// A product of `rows` rows and `columns` columns, of sums of `inner` terms.
#[derive(Clone, Copy)]
struct Product<V, A, B> {
    vectors: V,
    inner: usize,
    columns: usize,
    left: A,
    right: B,
}

/// The columns in a tile of one row: fewer in a page, whose code must be small.
const WIDE: usize = if cfg!(target_arch = "wasm32") { 4 } else { 8 };

/// In tiles of rows and columns. Where the last ones would be smaller, they overlap others: what is computed twice costs less
/// than smaller tiles. Sums that start from the output cannot be computed twice.
#[inline(always)]
pub(crate) fn multiply_all<V: Vectors, A: Factor, B: Factor, const L: usize>(
    vectors: V,
    [rows, inner, columns]: [usize; 3],
    left: A,
    right: B,
    mut into: Target<'_, L>,
) {
    let product = Product {
        vectors,
        inner,
        columns,
        left,
        right,
    };
    let mut row = 0;
    while vectors.keeps(16) && rows - row >= 4 {
        product.multiply_rows::<4, 4, L>(row, &mut into);
        row += 4;
    }
    let may_overlap = rows > 1 && !matches!(into.start, Start::Output);
    while rows - row >= 2 || rows > row && may_overlap {
        let first = row.min(rows - 2);
        product.multiply_rows::<2, 4, L>(first, &mut into);
        row = first + 2;
    }
    if row < rows {
        product.multiply_rows::<1, WIDE, L>(row, &mut into);
    }
}

impl<V: Vectors, A: Factor, B: Factor> Product<V, A, B> {
    /// All columns of `R` rows.
    #[inline(always)]
    fn multiply_rows<const R: usize, const C: usize, const L: usize>(
        self,
        row: usize,
        into: &mut Target<'_, L>,
    ) {
        let (mut column, columns) = (0, self.columns);
        let may_overlap = columns > C && !matches!(into.start, Start::Output);
        while columns - column >= C || columns > column && may_overlap {
            let first = column.min(columns - C);
            self.multiply_tile::<R, C, L>(row, first, into);
            column = first + C;
        }
        while column < columns {
            self.multiply_tile::<R, 1, L>(row, column, into);
            column += 1;
        }
    }

    // A page, whose code must be small, has each tile once.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    #[allow(clippy::float_cmp)] // A factor of exactly one changes nothing.
    fn multiply_tile<const R: usize, const C: usize, const L: usize>(
        self,
        row: usize,
        column: usize,
        into: &mut Target<'_, L>,
    ) {
        let (vectors, inner) = (self.vectors, self.inner);
        let first = row * into.stride + column;
        let mut sums = [[vectors.splat(0.0); C]; R];
        match into.start {
            Start::Zero => {}
            Start::Output => {
                for r in 0..R {
                    let row = &into.output[first + r * into.stride..][..C];
                    for c in 0..C {
                        sums[r][c] = vectors.load(&row[c]);
                    }
                }
            }
            Start::Row(row) => {
                let row = &row[column..][..C];
                for r in 0..R {
                    for c in 0..C {
                        sums[r][c] = vectors.splat(row[c]);
                    }
                }
            }
        }
        let (left, right) = (self.left.from(row, inner), self.right.from(column, inner));
        for t in 0..inner {
            let left = A::term::<V, R>(vectors, left, t);
            let right = B::term::<V, C>(vectors, right, t);
            for r in 0..R {
                for c in 0..C {
                    vectors.add_product(&mut sums[r][c], left[r], right[c]);
                }
            }
        }
        if into.factor != 1.0 {
            let factor = vectors.splat(into.factor);
            for r in 0..R {
                for c in 0..C {
                    sums[r][c] = vectors.product(factor, sums[r][c]);
                }
            }
        }
        for r in 0..R {
            let row = &mut into.output[first + r * into.stride..][..C];
            for c in 0..C {
                vectors.store(sums[r][c], &mut row[c]);
            }
        }
    }
}
