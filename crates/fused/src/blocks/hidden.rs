//! A hidden layer: of a feed-forward layer, or of the classifier. The activations and their derivatives are in
//! `functions.rs`.

use alloc::vec;
use alloc::vec::Vec;

use crate::architecture::Activation;
use crate::instructions::for_each_set;
use crate::lanes::{Lanes, ZERO, larger, map, zip};

/// A hidden layer.
#[derive(Clone, Debug)]
pub(super) struct Hidden {
    /// Before the activation, where its derivative needs that. `[row, width]`
    pub(super) input: Vec<Lanes>,
    /// After it.
    pub(super) output: Vec<Lanes>,
}

impl Hidden {
    pub(super) fn new(activation: Activation, count: usize) -> Self {
        let needed = activation != Activation::Relu;
        Self {
            input: vec![ZERO; if needed { count } else { 0 }],
            output: vec![ZERO; count],
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
