//! A hidden layer: of a feed-forward layer, or of the classifier. The activations and their derivatives are in
//! `functions.rs`.

use crate::aligned::Aligned;
use crate::functions::{slope_of, value_of};
use crate::instructions::for_each_isa;
use crate::lanes::{Lanes, larger};
use headlight_architecture::Activation;

/// A hidden layer.
#[derive(Clone, Debug)]
pub(crate) struct Hidden<const L: usize> {
    /// Before the activation, where its derivative needs that. `[row, width]`
    pub(crate) input: Aligned<L>,
    /// After it.
    pub(crate) output: Aligned<L>,
}

impl<const L: usize> Hidden<L> {
    pub(crate) fn new(activation: Activation, count: usize) -> Self {
        let needed = activation != Activation::Relu;
        Self {
            input: Aligned::zeros(if needed { count } else { 0 }),
            output: Aligned::zeros(count),
        }
    }
}

for_each_isa! {
    pub(crate) fn activate<'a, L>(activation: Activation, hidden: &'a mut Hidden<L>, count: usize) {
        let output = &mut hidden.output[..count];
        if activation == Activation::Relu {
            for value in output.as_flattened_mut() {
                *value = larger(0.0, *value);
            }
            return;
        }
        hidden.input[..count].copy_from_slice(output);
        for value in output.as_flattened_mut() {
            *value = value_of(activation, *value);
        }
    }
}

for_each_isa! {
    /// From the gradient of a hidden layer's output to that of its input, in place.
    pub(crate) fn backward_activation<'a, L>(
        activation: Activation, hidden: &'a Hidden<L>, gradient: &'a mut [Lanes<L>],
    ) {
        if activation == Activation::Relu {
            let outputs = hidden.output.as_flattened();
            for (gradient, value) in gradient.as_flattened_mut().iter_mut().zip(outputs) {
                *gradient = if *value > 0.0 { *gradient } else { 0.0 };
            }
            return;
        }
        let inputs = hidden.input.as_flattened();
        for (gradient, input) in gradient.as_flattened_mut().iter_mut().zip(inputs) {
            *gradient *= slope_of(activation, *input);
        }
    }
}
