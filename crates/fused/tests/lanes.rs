//! The functions of lanes beside double precision. They are private, so their file is
//! compiled into this test.
#![allow(dead_code, clippy::inline_always, clippy::needless_range_loop)]

#[path = "../src/lanes.rs"]
mod lanes;

use lanes::{ZERO, exp_of_negative, larger, log_1p, select_negative, square, zero_below};

/// The relative error in units of `f32::EPSILON`, beside a value in double precision.
fn error(ours: f32, exact: f64) -> f64 {
    (f64::from(ours) - exact).abs() / exact.abs() / f64::from(f32::EPSILON)
}

#[test]
fn exponentials_are_right_to_a_unit() {
    let worst = (0..870_000).map(|step| {
        let x = step as f32 * -1e-4;
        error(exp_of_negative(x), f64::from(x).exp())
    });
    let worst = worst.fold(0.0, f64::max);
    assert!(worst < 1.0, "{worst}");
    assert_eq!(exp_of_negative(0.0).to_bits(), 1.0_f32.to_bits());
    assert!(exp_of_negative(f32::NEG_INFINITY) < 2e-38);
    assert!(exp_of_negative(f32::NAN).is_nan());
}

#[test]
fn logarithms_are_right_to_a_unit() {
    let worst = (1..=1_000_000).map(|step| {
        let x = step as f32 * 1e-6;
        error(log_1p(x), f64::from(x).ln_1p())
    });
    let worst = worst.fold(0.0, f64::max);
    assert!(worst < 1.0, "{worst}");
    assert!(error(log_1p(1e-30), 1e-30) < 1.0);
    assert_eq!(log_1p(0.0).to_bits(), 0);
}

/// Numbers are compared by their bits, which tell zeros apart.
#[test]
fn comparisons_at_their_limits() {
    let same = |a: f32, b: f32| a.to_bits() == b.to_bits();
    assert!(same(zero_below(0.5, 0.5), 0.5) && same(zero_below(0.5, -0.5), -0.5));
    assert!(same(zero_below(0.5, 0.4), 0.0) && same(zero_below(0.5, -0.4), 0.0));
    assert!(zero_below(0.5, f32::NAN).is_nan());
    assert!(same(larger(1.0, 2.0), 2.0) && same(larger(2.0, 1.0), 2.0));
    assert!(same(larger(0.0, -0.0), -0.0) && same(larger(f32::NAN, 1.0), 1.0));
    assert!(same(square(-3.0), 9.0) && same(square(9e-19), 0.0) && square(2e-18) > 0.0);
    let mut signs = ZERO;
    (signs[0], signs[1]) = (-1.0, 1.0);
    let chosen = select_negative(signs, [5.0; 8], [7.0; 8]);
    assert!(same(chosen[0], 5.0) && chosen[1..].iter().all(|&lane| same(lane, 7.0)));
}
