//! The function between the two matrices of a feed-forward layer.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use burn::tensor::Tensor;
use burn::tensor::activation::{relu, silu};
use headlight_architecture::Activation;

/// Applies the function to each number.
///
/// Both forms of GELU are written out. Burn's `gelu` is exact, but some of its backends differentiate the other form in
/// its place.
pub fn activate<const D: usize>(activation: Activation, x: Tensor<D>) -> Tensor<D> {
    match activation {
        Activation::Relu => relu(x),
        Activation::Gelu => {
            let share = ((x.clone() * FRAC_1_SQRT_2).erf() + 1.0) * 0.5; // of a normal distribution below x
            x * share
        }
        Activation::GeluTanh => {
            let cube = x.clone() * x.clone() * x.clone();
            let root_2_by_pi = FRAC_2_SQRT_PI * FRAC_1_SQRT_2;
            let share = (((x.clone() + cube * 0.044_715) * root_2_by_pi).tanh() + 1.0) * 0.5;
            x * share
        }
        Activation::Silu => silu(x),
    }
}
