//! Sums, shifts and scaled rows, element by element.

use crate::instructions::for_each_set;
use crate::lanes::{LANES, Lanes, ZERO, map, one_at_a_time, zip};

for_each_set! {
    pub(super) fn add<'a, L>(sum: &'a mut [Lanes<L>], other: &'a [Lanes<L>]) {
        for (sum, other) in sum.as_flattened_mut().iter_mut().zip(other.as_flattened()) {
            *sum += other;
        }
    }
}

for_each_set! {
    /// `output[row, i] = input[row, i] + bias[i]`
    pub(super) fn shift<'a, L>(input: &'a [Lanes<L>], bias: &'a [f32], output: &'a mut [Lanes<L>], width: usize) {
        let rows = input.chunks_exact(width).zip(output.chunks_exact_mut(width));
        for (input, output) in rows {
            for ((input, output), &bias) in input.iter().zip(output).zip(bias) {
                one_at_a_time();
                *output = map(*input, |input| input + bias);
            }
        }
    }
}

for_each_set! {
    /// Multiplies each row by its own number.
    pub(super) fn scale_rows<'a, L>(rows: &'a mut [Lanes<L>], width: usize, factors: &'a [Lanes<L>]) {
        for (row, factor) in rows.chunks_exact_mut(width).zip(factors) {
            for value in row {
                one_at_a_time();
                *value = zip(*value, *factor, |value, factor| value * factor);
            }
        }
    }
}

for_each_set! {
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
