//! Numbers side by side, and functions of them that give the same bits on every machine.
//!
//! A [`Lanes`] is a plain array: the compiler turns loops over it into vector instructions of the
//! machine's width. All functions consist of additions, multiplications, divisions, square roots and
//! comparisons, which IEEE 754 defines to the bit, and of integer operations on their bits. Rust never
//! contracts a multiplication and an addition into one rounding.

/// Samples that are computed side by side, with most sets of instructions.
pub(crate) const LANES: usize = 8;

/// Samples that are computed side by side with AVX-512, if there are as many.
pub(crate) const LANES_16: usize = 16;

/// One number for each of some samples.
pub(crate) type Lanes<const L: usize = LANES> = [f32; L];

pub(crate) const ZERO: Lanes = [0.0; LANES];

/// Keeps the compiler from vectorising across the turns of a loop over vectors: it should vectorise across the lanes of one turn.
/// Otherwise it transposes all that eight turns read and write.
#[inline(always)]
pub(crate) fn one_at_a_time() {
    // No instruction, but the compiler does not look through it.
    std::hint::black_box(());
}

/// Applies a function to each lane.
#[inline(always)]
pub(crate) fn map<const L: usize>(a: Lanes<L>, f: impl Fn(f32) -> f32) -> Lanes<L> {
    let mut out = [0.0; L];
    for l in 0..L {
        out[l] = f(a[l]);
    }
    out
}

/// Applies a function to pairs of lanes.
#[inline(always)]
pub(crate) fn zip<const L: usize>(
    a: Lanes<L>,
    b: Lanes<L>,
    f: impl Fn(f32, f32) -> f32,
) -> Lanes<L> {
    let mut out = [0.0; L];
    for l in 0..L {
        out[l] = f(a[l], b[l]);
    }
    out
}

/// `below` where `sign` is negative, `above` elsewhere.
#[inline(always)]
pub(crate) fn select_negative<const L: usize>(
    sign: Lanes<L>,
    below: Lanes<L>,
    above: Lanes<L>,
) -> Lanes<L> {
    let mut out = [0.0; L];
    for l in 0..L {
        out[l] = if sign[l] < 0.0 { below[l] } else { above[l] };
    }
    out
}

/// The square, or 0 if it would be below 1e-36.
#[inline(always)]
pub(crate) fn square(x: f32) -> f32 {
    let x = zero_below(1e-18, x);
    x * x
}

/// `x`, or 0 if it is closer to 0 than `limit`.
///
/// Processors compute a hundred times slower with numbers below 1.2e-38 ("subnormal"), and the gradients
/// of a fully trained model would all be so small.
#[inline(always)]
pub(crate) fn zero_below(limit: f32, x: f32) -> f32 {
    // NaN stays NaN.
    if x.abs() < limit { 0.0 } else { x }
}

/// The larger number; `b` if neither is larger or one is NaN.
#[inline(always)]
pub(crate) fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// `e^x` for `x <= 0`, to about one unit in the last place; below -87, `e^-87`. NaN stays NaN.
#[inline(always)]
pub(crate) fn exp_of_negative(x: f32) -> f32 {
    let [y] = exp_of_negatives([x]);
    y
}

/// [`exp_of_negative`] of some numbers, step by step: one by itself waits for each of its steps.
///
/// Range reduction by multiples of ln 2 in two parts, and the polynomial of the Cephes library's
/// `expf` (Moshier 1989).
#[inline(always)]
#[allow(clippy::excessive_precision, clippy::cast_possible_wrap)]
pub(crate) fn exp_of_negatives<const N: usize>(x: [f32; N]) -> [f32; N] {
    // Adding 1.5 * 2^23 rounds to a whole number and puts it into the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    let x = map(x, |x| larger(-87.0, x));
    let shifted = map(x, |x| x * std::f32::consts::LOG2_E + ROUND);
    let n = map(shifted, |shifted| shifted - ROUND);
    let r = zip(x, n, |x, n| (x - n * 0.693_359_375) - n * -2.121_944_4e-4);
    let mut y = [1.987_569_15e-4; N];
    for coefficient in [
        1.398_199_95e-3,
        8.333_451_9e-3,
        4.166_579_6e-2,
        1.666_666_55e-1,
        5.000_000_12e-1,
    ] {
        y = zip(y, r, |y, r| y * r + coefficient);
    }
    let y = zip(y, r, |y, r| y * (r * r) + r + 1.0);
    zip(y, shifted, |y, shifted| {
        let exponent = shifted
            .to_bits()
            .wrapping_sub(ROUND.to_bits())
            .wrapping_add(127);
        y * f32::from_bits(exponent << 23)
    })
}

/// `log(1 + x)` for `0 <= x <= 1`, to about one unit in the last place, with the polynomial of the
/// Cephes library's `logf`.
#[inline(always)]
#[allow(clippy::excessive_precision)]
pub(crate) fn log_1p(x: f32) -> f32 {
    // log(1 + x) = log(2) + log(1 + (x - 1) / 2) keeps the polynomial's argument below sqrt(2) - 1.
    let upper = x > std::f32::consts::SQRT_2 - 1.0;
    let n = if upper { 1.0 } else { 0.0 };
    let x = if upper { 0.5 * x - 0.5 } else { x };
    let square = x * x;
    let mut y = 7.037_683_63e-2;
    y = y * x - 1.151_461_03e-1;
    y = y * x + 1.167_699_87e-1;
    y = y * x - 1.242_014_08e-1;
    y = y * x + 1.424_932_28e-1;
    y = y * x - 1.666_805_77e-1;
    y = y * x + 2.000_071_48e-1;
    y = y * x - 2.499_999_4e-1;
    y = y * x + 3.333_333_12e-1;
    y = y * x * square;
    y += n * -2.121_944_4e-4;
    y -= 0.5 * square;
    (x + y) + n * 0.693_359_375
}

/// The natural logarithm of a number from 1 on, to about one unit in the last place.
#[inline(always)]
#[allow(clippy::excessive_precision)] // The digits of Cephes's constants.
pub(crate) fn log(x: f32) -> f32 {
    // x = m 2^n with m in [1, 2)
    let bits = x.to_bits();
    let n = ((bits >> 23).cast_signed() - 127) as f32;
    let m = f32::from_bits(bits & 0x7f_ffff | 0x3f80_0000);
    (log_1p(m - 1.0) + n * -2.121_944_4e-4) + n * 0.693_359_375
}
