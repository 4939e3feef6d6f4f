//! The compact form of numbers over time: integers, each as its difference from what the steps before it
//! predict, in planes of bytes.

/// Units per 1: the page shows four decimals.
const UNITS: f64 = 10_000.0;

/// Larger numbers are clamped to this; JavaScript could not hold them exactly.
const MAX_NUMBER: f64 = 1e15;

/// A number in ten-thousandths, rounded as printing rounds it: halves to even.
pub(crate) fn units(value: f32) -> i64 {
    (f64::from(value) * UNITS)
        .round_ties_even()
        .clamp(-MAX_NUMBER, MAX_NUMBER) as i64
}

/// Writes integers as: the number of bytes of each, the lowest byte of each, the next byte of each, ...
/// Signs are folded: 0, -1, 1, -2 become 0, 1, 2, 3.
pub(crate) fn planes(out: &mut Vec<u8>, values: &[i64]) {
    let folded = |&value: &i64| ((value << 1) ^ (value >> 63)) as u64;
    let most = values.iter().map(folded).max().unwrap_or(0);
    let bytes = (8 - most.leading_zeros() / 8).max(1);
    out.push(bytes as u8);
    for plane in 0..bytes {
        out.extend(
            values
                .iter()
                .map(|value| (folded(value) >> (8 * plane)) as u8),
        );
    }
}

/// The difference of each number from its prediction: from `[step, cell]` to `[cell, step]`.
pub(crate) fn surprises(steps: &[Vec<i64>]) -> Vec<i64> {
    let cells = steps.first().map_or(0, Vec::len);
    let mut out = Vec::with_capacity(cells * steps.len());
    for cell in 0..cells {
        let value = |step: usize| steps[step][cell];
        for step in 0..steps.len() {
            out.push(match step {
                0 => value(0),
                1 => value(1) - value(0),
                _ => value(step) - expected(value(step - 1), value(step - 2)),
            });
        }
    }
    out
}

/// Predicts the next number: three quarters of the last change are added again. Of the factors tried this
/// made the notebook's page smallest. `script/src/sources/recorded.ts` predicts the same.
fn expected(last: i64, before: i64) -> i64 {
    last + (3 * (last - before)).div_euclid(4)
}

/// The softmax of a row of scores over the allowed keys; scores and result are in ten-thousandths.
///
/// It uses only sums, products and quotients, in a fixed order: `script/src/model/numbers.ts` computes the same to the
/// last bit, so a page stores only the difference of a weight from this, which is nearly always 0.
pub(crate) fn predicted(scores: &[i64], may: impl Fn(usize) -> bool) -> Vec<i64> {
    let allowed = || (0..scores.len()).filter(|&key| may(key));
    let most = allowed().map(|key| scores[key]).max().unwrap_or(0);
    let mut shares = vec![0.0; scores.len()];
    let mut sum = 0.0;
    for key in allowed() {
        shares[key] = exp((scores[key] - most) as f64 / UNITS);
        sum += shares[key];
    }
    if sum > 0.0 {
        for share in &mut shares {
            *share = *share / sum * UNITS + 0.5;
        }
    }
    shares.into_iter().map(|share| share as i64).collect()
}

/// `exp(x)` for x of at most 0: the series of `x / 256`, squared eight times.
fn exp(x: f64) -> f64 {
    let part = x.max(-64.0) / 256.0;
    let mut value = 1.0;
    for divisor in (1_u8..=10).rev() {
        value = 1.0 + value * part / f64::from(divisor);
    }
    for _ in 0..8 {
        value *= value;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_hold_folded_numbers_low_bytes_first() {
        let mut out = Vec::new();
        planes(&mut out, &[0, -1, 1, -300]);
        assert_eq!(out, [2, 0, 1, 2, 87, 0, 0, 0, 2]);
        let mut zeros = Vec::new();
        planes(&mut zeros, &[0, 0]);
        assert_eq!(zeros, [1, 0, 0]);
    }

    #[test]
    fn exp_is_exp() {
        for x in [0.0, -1e-6, -0.3, -1.0, -5.5, -20.0, -60.0] {
            let ratio = exp(x) / f64::exp(x);
            assert!((ratio - 1.0).abs() < 1e-12, "{x}: {ratio}");
        }
    }

    #[test]
    fn predictions_are_softmax_over_the_allowed() {
        assert_eq!(predicted(&[0, 0, 0], |_| true), [3333, 3333, 3333]);
        assert_eq!(
            predicted(&[10_000, 0, 90_000], |key| key < 2),
            [7311, 2689, 0]
        );
        assert_eq!(predicted(&[1, 2], |_| false), [0, 0]);
    }

    #[test]
    fn units_round_as_printing_does() {
        for value in [0.03125_f32, 0.093_75, -0.03125, 0.566_149_4, 1.0] {
            let printed: f64 = format!("{value:.4}").parse().unwrap_or(f64::NAN);
            assert_eq!(units(value), (printed * 1e4).round() as i64, "{value}");
        }
    }
}
