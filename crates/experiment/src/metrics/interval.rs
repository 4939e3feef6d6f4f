//! The confidence interval of a share.

/// The 97.5% quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// Wilson's (1927) 95% confidence interval of a share. It also holds for few samples, and for shares near 0 or 1.
pub fn wilson(part: usize, whole: usize) -> [f64; 2] {
    if whole == 0 {
        return [0.0, 1.0];
    }
    let (count, squared) = (whole as f64, NORMAL * NORMAL);
    let share = part as f64 / count;
    let centre = share + squared / (2.0 * count);
    let spread = NORMAL * (share * (1.0 - share) / count + squared / (4.0 * count * count)).sqrt();
    let scale = 1.0 + squared / count;
    let [low, high] = [centre - spread, centre + spread].map(|end| end / scale);
    // Rounding must not keep the ends from 0 and 1.
    [
        if part == 0 { 0.0 } else { low },
        if part == whole { 1.0 } else { high },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `statsmodels.stats.proportion.proportion_confint(k, n, method="wilson")`.
    #[test]
    fn wilsons_interval_is_statsmodels() {
        for (part, whole, [low, high]) in [
            (0, 10, [0.0, 0.277_532_8]),
            (10, 10, [0.722_467_2, 1.0]),
            (967, 1000, [0.954_018_7, 0.976_407_1]),
        ] {
            let found = wilson(part, whole);
            assert!((found[0] - low).abs() < 1e-6, "{found:?}");
            assert!((found[1] - high).abs() < 1e-6, "{found:?}");
        }
        for whole in 1..500 {
            let ends = [wilson(0, whole)[0], wilson(whole, whole)[1]];
            assert_eq!(ends.map(f64::to_bits), [0.0_f64, 1.0].map(f64::to_bits));
        }
        let [low, high] = wilson(0, 0);
        assert!(low <= 0.0 && high >= 1.0);
    }
}
