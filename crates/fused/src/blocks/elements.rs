//! Sums, shifts and activations, element by element.

use super::values::Hidden;
use crate::architecture::Activation;
use crate::instructions::for_each_set;
use crate::lanes::{LANES, Lanes, ZERO, larger, map, zip};

for_each_set! {
    pub(super) fn add<'a>(sum: &'a mut [Lanes], other: &'a [Lanes]) {
        for (sum, other) in sum.iter_mut().zip(other) {
            *sum = zip(*sum, *other, |sum, other| sum + other);
        }
    }
}

for_each_set! {
    /// `output[row, i] = input[row, i] + bias[i]`
    pub(super) fn shift<'a>(input: &'a [Lanes], bias: &'a [f32], output: &'a mut [Lanes], width: usize) {
        let rows = input.chunks_exact(width).zip(output.chunks_exact_mut(width));
        for (input, output) in rows {
            for ((input, output), &bias) in input.iter().zip(output).zip(bias) {
                *output = map(*input, |input| input + bias);
            }
        }
    }
}

for_each_set! {
    pub(super) fn activate<'a>(activation: Activation, hidden: &'a mut Hidden, count: usize) {
        let output = &mut hidden.output[..count];
        if activation == Activation::Relu {
            for value in output {
                *value = map(*value, |value| larger(value, 0.0));
            }
            return;
        }
        hidden.input[..count].copy_from_slice(output);
        for value in output {
            *value = map(*value, |value| activation.value(value));
        }
    }
}

for_each_set! {
    /// From the gradient of a hidden layer's output to that of its input, in place.
    pub(super) fn through_activation<'a>(
        activation: Activation,
        hidden: &'a Hidden,
        gradient: &'a mut [Lanes],
    ) {
        if activation == Activation::Relu {
            for (gradient, value) in gradient.iter_mut().zip(&hidden.output) {
                *gradient = zip(*gradient, *value, |gradient, value| {
                    if value > 0.0 { gradient } else { 0.0 }
                });
            }
            return;
        }
        for (gradient, input) in gradient.iter_mut().zip(&hidden.input) {
            *gradient = zip(*gradient, *input, |gradient, input| gradient * activation.slope(input));
        }
    }
}

for_each_set! {
    /// Multiplies each row by its own number.
    pub(super) fn scale_rows<'a>(rows: &'a mut [Lanes], width: usize, factors: &'a [Lanes]) {
        for (row, factor) in rows.chunks_exact_mut(width).zip(factors) {
            for value in row {
                *value = zip(*value, *factor, |value, factor| value * factor);
            }
        }
    }
}

for_each_set! {
    /// Adds all rows to `sum`.
    pub(super) fn add_rows<'a>(rows: &'a [f32], width: usize, sum: &'a mut [f32]) {
        for column in (0..width).step_by(LANES) {
            let sums = &mut sum[column..][..LANES];
            let mut sum = ZERO;
            sum.copy_from_slice(sums);
            for row in rows.chunks_exact(width) {
                let row = &row[column..][..LANES];
                for i in 0..LANES {
                    sum[i] += row[i];
                }
            }
            sums.copy_from_slice(&sum);
        }
    }
}
