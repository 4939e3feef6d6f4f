//! Activations beside double precision, and their slopes beside differences. They are private, so their file is compiled into
//! this test.
#![allow(
    dead_code,
    clippy::inline_always,
    clippy::needless_range_loop,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::float_cmp
)]

#[path = "../src/functions.rs"]
mod functions;
#[path = "../src/lanes.rs"]
mod lanes;

#[path = "../../architecture/tests/definition/mod.rs"]
mod definition;

use functions::{erf, logistic, slope_of, tanh, value_of};
use headlight_architecture::Activation;
use lanes::exp_of_negative;

/// The unit roundoff.
const UNIT: f64 = 1.0 / 16_777_216.0;

/// Distance in units in the last place of the exact value as float32.
fn ulps(found: f32, exact: f64) -> f64 {
    let near = exact as f32;
    let unit = f64::from(f32::from_bits(near.abs().to_bits() + 1)) - f64::from(near.abs());
    (f64::from(found) - exact).abs() / unit
}

fn arguments() -> impl Iterator<Item = f32> {
    (-80_000..80_000).map(|i| i as f32 * 1.234_567e-4)
}

#[test]
fn functions_are_exact_to_a_few_units() {
    let worst = |found: fn(f32) -> f32, exact: fn(f64) -> f64| {
        let errors = arguments().filter(|&x| x != 0.0);
        let errors = errors.map(|x| ulps(found(x), exact(f64::from(x))));
        errors.fold(0.0, f64::max)
    };
    let [erf_error, tanh_error, logistic_error] = [
        worst(erf, definition::erf),
        worst(tanh, f64::tanh),
        worst(logistic, |x| 1.0 / (1.0 + (-x).exp())),
    ];
    assert!(erf_error <= 3.0, "erf: {erf_error}");
    assert!(tanh_error <= 2.0, "tanh: {tanh_error}");
    assert!(logistic_error <= 3.0, "logistic: {logistic_error}");
    assert_eq!([erf(0.0), tanh(0.0), logistic(0.0)], [0.0, 0.0, 0.5]);
}

#[test]
fn slopes_are_the_differences_of_values() {
    for activation in [Activation::Gelu, Activation::GeluTanh, Activation::Silu] {
        for x in arguments().step_by(97) {
            // Differences of float32 values: exact to their rounding over the distance.
            let (below, above) = (x - 0.01, x + 0.01);
            let change =
                f64::from(value_of(activation, above)) - f64::from(value_of(activation, below));
            let slope = change / (f64::from(above) - f64::from(below));
            assert!(
                (slope - f64::from(slope_of(activation, x))).abs() < 2e-4,
                "{activation:?} {x}"
            );
        }
    }
}

/// Every so many of the numbers between two positive ones, from the smallest.
fn numbers(from: f32, to: f32, step: usize) -> impl Iterator<Item = f32> {
    (from.to_bits()..=to.to_bits())
        .step_by(step)
        .map(f32::from_bits)
}

/// Where exponentials are not 0 for the engine: below -41.5 they are under 1e-18.
#[test]
fn exponentials_are_off_by_four_roundings() {
    let sizes = [0.0].into_iter().chain(numbers(1e-30, 41.5, 97));
    let off = sizes.map(|size| {
        let exact = f64::exp(-f64::from(size));
        (f64::from(exp_of_negative(-size)) - exact).abs() / exact
    });
    let most = off.fold(0.0, f64::max);
    assert!(most <= 4.0 * UNIT, "{} roundings", most / UNIT);
}

/// As a share of the argument's size.
#[test]
fn activations_are_off_by_eight_roundings() {
    for activation in [
        Activation::Relu,
        Activation::Gelu,
        Activation::GeluTanh,
        Activation::Silu,
    ] {
        let sizes = numbers(1e-20, 1e15, 4001).chain(numbers(0.01, 20.0, 307));
        let arguments = sizes.flat_map(|size| [size, -size]);
        let most = arguments.fold((0.0_f64, 0.0), |most, x| {
            let wide = f64::from(x);
            let off = (f64::from(value_of(activation, x)) - definition::value_of(activation, wide))
                .abs()
                / wide.abs();
            if off > most.0 { (off, x) } else { most }
        });
        assert!(
            most.0 <= 8.0 * UNIT,
            "{activation:?} at {}: {} roundings",
            most.1,
            most.0 / UNIT
        );
    }
}
