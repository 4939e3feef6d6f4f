//! Functions in float64 that give the same bits on every machine: additions, multiplications, divisions, square roots and
//! comparisons alone, which IEEE 754 defines to the bit. System libraries differ in the last bits of theirs.
//!
//! They are for what is computed once, on the host: initial weights, tables of positions, learning rates.

use std::f64::consts::{FRAC_PI_2, LN_2, LOG2_E, SQRT_2};

/// The natural logarithm of a positive normal number, to about two units in the last place.
///
/// `x = m 2^n` with `m` from `sqrt(1/2)` to `sqrt(2)`, and `ln m = 2 artanh(s)`, `s = (m - 1) / (m + 1)`, by its series.
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut n = ((bits >> 52) & 0x7ff) as f64 - 1023.0;
    let mut m = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000);
    if m > SQRT_2 {
        m *= 0.5;
        n += 1.0;
    }
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let mut sum = 0.0;
    for k in (1..=11).rev() {
        sum = (sum + 1.0 / f64::from(2 * k + 1)) * square;
    }
    n * LN_2 + (2.0 * s + 2.0 * s * sum)
}

/// `e^x` to about two units in the last place: `2^n e^r`, and the series of `e^r`. Below -708 it is 0, and above 709 infinite.
pub fn exp(x: f64) -> f64 {
    // ln 2 in two parts, so that n times the first is exact.
    const UPPER: f64 = 0.693_147_180_369_123_8;
    const LOWER: f64 = 1.908_214_929_270_587_7e-10;
    if x < -708.0 {
        return 0.0;
    }
    if x > 709.0 {
        return f64::INFINITY;
    }
    let n = round(x * LOG2_E);
    let r = (x - n * UPPER) - n * LOWER;
    let mut sum = 1.0;
    for k in (1..=14).rev() {
        sum = 1.0 + r * sum / f64::from(k);
    }
    let exponent = (n as i64 + 1023).cast_unsigned();
    sum * f64::from_bits(exponent << 52)
}

/// The sine of an angle in radians; for angles up to 1e5 to an absolute error below 1e-11.
pub fn sin(x: f64) -> f64 {
    let (quadrant, r) = quadrant(x);
    match quadrant {
        0 => sin_near_zero(r),
        1 => cos_near_zero(r),
        2 => -sin_near_zero(r),
        _ => -cos_near_zero(r),
    }
}

/// The cosine of an angle in radians, as [`sin`].
pub fn cos(x: f64) -> f64 {
    let (quadrant, r) = quadrant(x);
    match quadrant {
        0 => cos_near_zero(r),
        1 => -sin_near_zero(r),
        2 => -cos_near_zero(r),
        _ => sin_near_zero(r),
    }
}

/// The quarter of the circle nearest to an angle, 0 to 3, and the angle from there, at most pi/4 to either side.
fn quadrant(x: f64) -> (u8, f64) {
    // pi/2 in two parts.
    const LOWER: f64 = 6.123_233_995_736_766e-17;
    let n = round(x / FRAC_PI_2);
    let r = (x - n * FRAC_PI_2) - n * LOWER;
    let quarter = n - 4.0 * floor(n / 4.0);
    (quarter as u8, r)
}

fn sin_near_zero(r: f64) -> f64 {
    let square = r * r;
    let mut sum = 1.0;
    for k in (1..=9).rev() {
        sum = 1.0 - square * sum / f64::from(2 * k * (2 * k + 1));
    }
    r * sum
}

fn cos_near_zero(r: f64) -> f64 {
    let square = r * r;
    let mut sum = 1.0;
    for k in (1..=9).rev() {
        sum = 1.0 - square * sum / f64::from(2 * k * (2 * k - 1));
    }
    sum
}

/// The nearest whole number, for numbers below 2^51.
fn round(x: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52
    (x + ROUND) - ROUND
}

fn floor(x: f64) -> f64 {
    let nearest = round(x);
    if nearest > x { nearest - 1.0 } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units in the last place of `exact` between it and `found`.
    fn ulps(found: f64, exact: f64) -> u64 {
        found.to_bits().abs_diff(exact.to_bits())
    }

    #[test]
    fn logarithms_and_exponentials_are_the_librarys_to_two_units() {
        for i in 1..100_000_u32 {
            let x = f64::from(i) * 1.234_567e-3;
            assert!(
                ulps(ln(x), x.ln()) <= 2 || (ln(x) - x.ln()).abs() < 1e-16,
                "ln {x}"
            );
            let x = f64::from(i) * 1e-3 - 60.0;
            assert!(ulps(exp(x), x.exp()) <= 2, "exp {x}");
            let x = f64::from(i) * 1.417e-2 - 708.0;
            assert!(ulps(exp(x), x.exp()) <= 2, "exp {x}");
        }
        for x in [-708.1, -709.0, -1e3, -1e19, f64::MIN, f64::NEG_INFINITY] {
            assert_eq!(exp(x).to_bits(), 0, "{x}");
            assert!(exp(-x.min(-709.1)) == f64::INFINITY, "{x}");
        }
        assert!(exp(f64::NAN).is_nan());
    }

    #[test]
    fn sines_and_cosines_are_the_librarys() {
        for i in 0..100_000_u32 {
            let x = f64::from(i) * 0.987_654 - 1_000.0;
            assert!((sin(x) - x.sin()).abs() < 1e-11, "sin {x}");
            assert!((cos(x) - x.cos()).abs() < 1e-11, "cos {x}");
        }
    }
}
