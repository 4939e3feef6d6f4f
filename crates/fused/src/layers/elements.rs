//! Sums, shifts and scaled rows, element by element.

use crate::instructions::for_each_isa;
use crate::lanes::{Lanes, map, one_at_a_time, zip};

for_each_isa! {
    pub(crate) fn add<'a, L>(sum: &'a mut [Lanes<L>], other: &'a [Lanes<L>]) {
        for (sum, other) in sum.as_flattened_mut().iter_mut().zip(other.as_flattened()) {
            *sum += other;
        }
    }
}

for_each_isa! {
    /// `output[row, i] = input[row, i] + bias[i]`
    pub(crate) fn shift<'a, L>(input: &'a [Lanes<L>], bias: &'a [f32], output: &'a mut [Lanes<L>], width: usize) {
        let rows = input.chunks_exact(width).zip(output.chunks_exact_mut(width));
        for (input, output) in rows {
            for ((input, output), &bias) in input.iter().zip(output).zip(bias) {
                one_at_a_time();
                *output = map(*input, |input| input + bias);
            }
        }
    }
}

for_each_isa! {
    /// Multiplies each row by its own number.
    pub(crate) fn scale_rows<'a, L>(rows: &'a mut [Lanes<L>], width: usize, factors: &'a [Lanes<L>]) {
        for (row, factor) in rows.chunks_exact_mut(width).zip(factors) {
            for value in row {
                one_at_a_time();
                *value = zip(*value, *factor, |value, factor| value * factor);
            }
        }
    }
}

for_each_isa! {
    /// Multiplies all numbers by a factor.
    pub(crate) fn scale<'a, L>(values: &'a mut [Lanes<L>], factor: f32) {
        for value in values.as_flattened_mut() {
            *value *= factor;
        }
    }
}
