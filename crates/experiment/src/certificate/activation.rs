//! The functions of feed-forward layers, and how steep they are within an interval.

use headlight_architecture::Activation;

/// Of GELU's approximation by tanh (Hendrycks and Gimpel 2016): `sqrt(2 / pi)`, and the factor of the cube.
const ROOT_TWO_OVER_PI: f64 = 0.797_884_560_802_865_4;
const CUBIC: f64 = 0.044_715;

/// None is steeper anywhere.
pub(super) const STEEPEST: f64 = 1.2;

/// The slope of no other than [`Activation::Relu`] changes faster.
const BEND: f64 = 0.9;

/// Its value.
pub(super) fn value(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Relu => x.max(0.0),
        Activation::Gelu => x * normal(x),
        Activation::GeluTanh => 0.5 * x * (1.0 + libm::tanh(inner(x))),
        Activation::Silu => x * logistic(x),
    }
}

/// How far the value between `x - radius` and `x + radius` can be off the slope at `x`.
pub(super) fn rest(activation: Activation, x: f64, radius: f64) -> f64 {
    match activation {
        Activation::Relu => (radius - x.abs()).max(0.0),
        _ => BEND / 2.0 * radius * radius,
    }
}

/// Its slope.
pub(super) fn slope(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Relu => f64::from(u8::from(x > 0.0)),
        Activation::Gelu => normal(x) + x * libm::exp(-0.5 * x * x) / core::f64::consts::TAU.sqrt(),
        Activation::GeluTanh => {
            let t = libm::tanh(inner(x));
            let inner_slope = ROOT_TWO_OVER_PI * (1.0 + 3.0 * CUBIC * x * x);
            0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * inner_slope
        }
        Activation::Silu => {
            let s = logistic(x);
            s * (1.0 + x * (1.0 - s))
        }
    }
}

fn inner(x: f64) -> f64 {
    ROOT_TWO_OVER_PI * (x + CUBIC * x * x * x)
}

fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x * core::f64::consts::FRAC_1_SQRT_2)
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}
