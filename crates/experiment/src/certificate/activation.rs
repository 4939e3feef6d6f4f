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

#[cfg(test)]
mod tests {
    use super::*;

    const SMOOTH: [Activation; 3] = [Activation::Gelu, Activation::GeluTanh, Activation::Silu];

    fn arguments() -> impl Iterator<Item = f64> {
        (-200_000..=200_000).map(|i| f64::from(i) * 1e-4)
    }

    #[test]
    fn slopes_are_differences_of_values() {
        for activation in SMOOTH {
            for x in arguments().step_by(7) {
                let found = (value(activation, x + 1e-5) - value(activation, x - 1e-5)) / 2e-5;
                assert!(
                    (found - slope(activation, x)).abs() < 1e-8,
                    "{activation:?} {x}"
                );
            }
        }
        for (x, expected) in [(-2.0, 0.0), (0.0, 0.0), (2.0, 1.0)] {
            assert!((slope(Activation::Relu, x) - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn no_slope_is_steeper_and_none_bends_more() {
        for activation in SMOOTH {
            let steepest = arguments()
                .map(|x| slope(activation, x).abs())
                .fold(0.0, f64::max);
            let bend =
                |x: f64| (slope(activation, x + 1e-5) - slope(activation, x - 1e-5)).abs() / 2e-5;
            let largest = arguments().map(bend).fold(0.0, f64::max);
            assert!(steepest < STEEPEST - 0.05, "{activation:?}: {steepest}");
            assert!(largest < BEND - 0.05, "{activation:?}: {largest}");
        }
    }

    #[test]
    fn values_are_off_their_slope_by_no_more_than_the_rest() {
        for activation in SMOOTH.into_iter().chain([Activation::Relu]) {
            for x in arguments().step_by(997) {
                for radius in [1e-3, 0.1, 0.7, 3.0, 12.0] {
                    let most = rest(activation, x, radius);
                    for step in -20..=20 {
                        let way = radius * f64::from(step) / 20.0;
                        let line = value(activation, x) + slope(activation, x) * way;
                        let off = (value(activation, x + way) - line).abs();
                        assert!(
                            off <= most + 1e-12,
                            "{activation:?} {x} {way}: {off}, not {most}"
                        );
                    }
                }
            }
        }
    }
}
