//! The functions of feed-forward layers and their derivatives, with the same bits on every machine: as in `lanes`, they
//! consist of additions, multiplications, divisions and comparisons, and of integer operations on their bits.

use headlight_architecture::Activation;

use crate::lanes::{exp_of_negative, larger};

/// An activation's value.
#[inline(always)]
pub(crate) fn value_of(activation: Activation, x: f32) -> f32 {
    match activation {
        Activation::Relu => larger(x, 0.0),
        Activation::Gelu => x * normal_distribution(x),
        Activation::GeluTanh => 0.5 * x * (1.0 + tanh(inner(x))),
        Activation::Silu => x * logistic(x),
    }
}

/// Its derivative.
#[inline(always)]
pub(crate) fn slope_of(activation: Activation, x: f32) -> f32 {
    match activation {
        Activation::Relu => f32::from(u8::from(x > 0.0)),
        Activation::Gelu => normal_distribution(x) + x * normal_density(x),
        Activation::GeluTanh => {
            let t = tanh(inner(x));
            let inner_slope = ROOT_TWO_OVER_PI * (1.0 + 3.0 * CUBIC * x * x);
            0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * inner_slope
        }
        Activation::Silu => {
            let s = logistic(x);
            s * (1.0 + x * (1.0 - s))
        }
    }
}

/// Of GELU's approximation: `sqrt(2 / pi)`, and the factor of the cube (Hendrycks and Gimpel 2016).
const ROOT_TWO_OVER_PI: f32 = 0.797_884_6;
const CUBIC: f32 = 0.044_715;

#[inline(always)]
fn inner(x: f32) -> f32 {
    ROOT_TWO_OVER_PI * (x + CUBIC * x * x * x)
}

/// The distribution function of the standard normal distribution.
#[inline(always)]
fn normal_distribution(x: f32) -> f32 {
    0.5 * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The density of the standard normal distribution.
#[inline(always)]
fn normal_density(x: f32) -> f32 {
    /// `1 / sqrt(2 pi)`
    const FACTOR: f32 = 0.398_942_3;
    FACTOR * exp_of_negative(-0.5 * x * x)
}

/// `1 / (1 + e^-x)`, to three units in the last place.
#[inline(always)]
pub(crate) fn logistic(x: f32) -> f32 {
    let e = exp_of_negative(-x.abs());
    let part = 1.0 / (1.0 + e);
    if x < 0.0 { e * part } else { part }
}

/// The hyperbolic tangent, to two units in the last place; near 0 with the polynomial of the Cephes library's `tanhf`
/// (Moshier 1989).
#[inline(always)]
#[allow(clippy::excessive_precision)] // The digits of Cephes's constants.
pub(crate) fn tanh(x: f32) -> f32 {
    let size = x.abs();
    let square = x * x;
    let mut y = -5.704_988_727_45e-3;
    y = y * square + 2.063_908_879_54e-2;
    y = y * square - 5.373_971_555_31e-2;
    y = y * square + 1.333_144_220_36e-1;
    y = y * square - 3.333_328_194_22e-1;
    let near = x + x * square * y;
    let e = exp_of_negative(-2.0 * size);
    let far = 1.0 - 2.0 * e / (1.0 + e);
    if size < 0.625 {
        near
    } else if x < 0.0 {
        -far
    } else {
        far
    }
}

/// The error function, to three units in the last place, with the polynomials of the Cephes library's `ndtrf`.
#[inline(always)]
#[allow(clippy::excessive_precision)] // As above.
pub(crate) fn erf(x: f32) -> f32 {
    let size = x.abs();
    let square = x * x;
    let mut near = 7.853_861_353_153_693e-5;
    near = near * square - 8.010_193_625_184_903e-4;
    near = near * square + 5.188_327_685_732_524e-3;
    near = near * square - 2.685_381_193_529_856e-2;
    near = near * square + 1.128_358_514_861_418e-1;
    near = near * square - 3.761_262_582_423_300e-1;
    near = near * square + 1.128_379_165_726_710;
    // 1 - erf(x) = e^(-x^2) q P(q^2), q = 1 / x, with one polynomial below 2 and one above.
    let q = 1.0 / if size < 1.0 { 1.0 } else { size };
    let t = q * q;
    let mut middle = 2.326_819_970_068_386e-2;
    middle = middle * t - 1.387_039_388_740_657e-1;
    middle = middle * t + 3.687_424_674_597_105e-1;
    middle = middle * t - 5.824_733_027_278_666e-1;
    middle = middle * t + 6.210_004_621_745_983e-1;
    middle = middle * t - 4.944_515_323_274_145e-1;
    middle = middle * t + 3.404_879_937_665_872e-1;
    middle = middle * t - 2.741_127_028_184_656e-1;
    middle = middle * t + 5.638_259_427_386_472e-1;
    let mut upper = -1.047_766_399_936_249e1;
    upper = upper * t + 1.297_719_955_372_516e1;
    upper = upper * t - 7.495_518_717_768_503;
    upper = upper * t + 2.921_019_019_210_786;
    upper = upper * t - 1.015_265_279_202_700;
    upper = upper * t + 4.218_463_358_204_948e-1;
    upper = upper * t - 2.820_767_439_740_514e-1;
    upper = upper * t + 5.641_895_067_754_075e-1;
    let polynomial = if size < 2.0 { middle } else { upper };
    let rest = exp_of_negative(-square) * q * polynomial;
    let far = 1.0 - rest;
    if size < 1.0 {
        x * near
    } else if x < 0.0 {
        -far
    } else {
        far
    }
}
