//! What Zhong et al. 2023 published of their runs of one block.

/// Bins of the attention rate, each 0.1 wide.
pub(crate) const BINS: usize = 10;

/// The published medians of both measures, by bins of the attention rate: of the 817 runs of width 128 with a circularity of 0.995 or
/// more, in `studies/clock-and-pizza/published.csv` (MIT, `LICENSE-published` beside it).
pub(crate) const PUBLISHED_MEDIANS: [[f64; 2]; BINS] = [
    [0.994, 0.200],
    [0.993, 0.210],
    [0.992, 0.240],
    [0.993, 0.211],
    [0.993, 0.256],
    [0.931, 0.399],
    [0.750, 0.627],
    [0.624, 0.697],
    [0.539, 0.771],
    [0.451, 0.828],
];

/// From this circularity on, the authors look at a run.
pub(crate) const CIRCULAR: f64 = 0.995;

/// The bin of an attention rate.
pub(crate) fn bin(rate: f64) -> usize {
    ((rate * BINS as f64) as usize).min(BINS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::median;

    #[test]
    fn published_medians_are_those_of_the_table() {
        let table = include_str!("../../../studies/clock-and-pizza/published.csv");
        let mut bins: [[Vec<f64>; 2]; BINS] = Default::default();
        for line in table.lines().skip(1) {
            let cells: Vec<f64> = line
                .split(',')
                .skip(1)
                .map(|cell| cell.parse().unwrap_or(f64::NAN))
                .collect();
            let &[rate, width, _, symmetricity, irrelevance, circularity] = cells.as_slice() else {
                panic!("{line}")
            };
            if width == 128.0 && circularity >= CIRCULAR {
                bins[bin(rate)][0].push(symmetricity);
                bins[bin(rate)][1].push(irrelevance);
            }
        }
        for (own, medians) in bins.iter().zip(PUBLISHED_MEDIANS) {
            for (values, expected) in own.iter().zip(medians) {
                assert!((median(values) - expected).abs() <= 5.1e-4, "{expected}");
            }
        }
    }
}
