//! Sums of rows, one column per lane, one row after the other: to a single row, or to rows of a table.

use std::ops::Range;

use crate::instructions::for_each_isa;
use crate::lanes::{LANES, ZERO, square};

/// Stands for a lane without a sample of its own.
pub(super) const NO_TOKEN: u32 = u32::MAX;

for_each_isa! {
    /// Adds all rows to `sum`, one after the other. Rows are a stride apart.
    pub(super) fn add_rows<'a>(rows: &'a [f32], stride: usize, sum: &'a mut [f32]) {
        for (column, sums) in sum.chunks_exact_mut(LANES).enumerate() {
            let mut sum = ZERO;
            sum.copy_from_slice(sums);
            let mut rows = &rows[column * LANES..];
            while let Some(row) = rows.get(..LANES) {
                for i in 0..LANES {
                    sum[i] += row[i];
                }
                rows = rows.get(stride..).unwrap_or_default();
            }
            sums.copy_from_slice(&sum);
        }
    }
}

for_each_isa! {
    /// Adds the gradient of each token to its row, and its square to `squares`, for the tokens of some rows of the table.
    /// `gradient` and `squares` have these rows; `squares` may be empty.
    pub(super) fn add_to_tokens<'a>(
        rows: &'a [f32], width: usize, tokens: &'a [u32], range: Range<usize>, gradient: &'a mut [f32],
        squares: &'a mut [f32],
    ) {
        for (row, &token) in rows.chunks_exact(width).zip(tokens) {
            if !range.contains(&(token as usize)) {
                continue;
            }
            let numbers = (token as usize - range.start) * width..(token as usize - range.start + 1) * width;
            for (sum, value) in gradient[numbers.clone()].iter_mut().zip(row) {
                *sum += value;
            }
            if !squares.is_empty() {
                for (sum, value) in squares[numbers].iter_mut().zip(row) {
                    *sum += square(*value);
                }
            }
        }
    }
}

for_each_isa! {
    /// Adds the gradient of each token to the row of its position, for some rows of the table. The rows are those of `computed`
    /// positions for every eight samples.
    pub(super) fn add_to_positions<'a>(
        rows: &'a [f32], width: usize, tokens: &'a [u32], computed: usize, range: Range<usize>, gradient: &'a mut [f32],
    ) {
        for (index, (row, &token)) in rows.chunks_exact(width).zip(tokens).enumerate() {
            let position = index / LANES % computed;
            if token == NO_TOKEN || !range.contains(&position) {
                continue;
            }
            let sums = &mut gradient[(position - range.start) * width..][..width];
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
    }
}
