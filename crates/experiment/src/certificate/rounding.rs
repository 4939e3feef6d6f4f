//! How far float32 rounds: bounds of the distance between what the engine computes and real numbers.
//!
//! A sum of `n` products in float32 is off by at most `γ(n) = n u / (1 - n u)` times the sum of their magnitudes, in any order of its
//! additions (Higham 2002, section 3.1), with `u = 2^-24`. What the engine's own functions are off by is tested in
//! `crates/fused/tests/functions.rs`, and all of it together in `tests.rs`.

/// The unit roundoff of float32.
pub(super) const UNIT: f64 = 1.0 / 16_777_216.0;

/// The engine's exponential is off by at most so much of its value.
pub(super) const OF_EXPONENTIAL: f64 = 4.0 * UNIT;

/// The engine's activations are off by at most so much of their argument's size.
pub(super) const OF_ACTIVATION: f64 = 8.0 * UNIT;

/// Exponentials below this share of the largest are 0 in the engine.
pub(super) const LEAST_EXPONENTIAL: f64 = 1e-18;

/// Scores that are farther apart are the engine's alone: exponentials of such differences are near the least float64.
pub(super) const MOST_SPREAD: f64 = 600.0;

/// Of float64, in which all bounds are computed: far above what its own rounding adds up to, and far below [`UNIT`].
pub(super) const SLACK: f64 = 1e-11;

/// What a sum of `n` products is off by, as a share of the sum of their magnitudes.
pub(super) fn gamma(n: usize) -> f64 {
    let n = n as f64 * UNIT;
    n / (1.0 - n) + SLACK
}
