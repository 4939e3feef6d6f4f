//! What Zhong et al. 2023 published of their runs of one block, by width.

/// Bins of the attention rate, each 0.1 wide.
pub(crate) const BINS: usize = 10;

/// From this circularity on, the authors look at a run.
pub(crate) const CIRCULAR: f64 = 0.995;

/// The bin of an attention rate.
pub(crate) fn bin(rate: f64) -> usize {
    ((rate * BINS as f64) as usize).min(BINS - 1)
}

/// Published runs with a test accuracy of 99% or more.
pub(crate) struct Group {
    /// The least and the largest width.
    pub(crate) widths: [u32; 2],
    /// Whether only those with a circularity of [`CIRCULAR`] or more count.
    pub(crate) is_circular: bool,
    /// How many there are.
    pub(crate) runs: usize,
    /// The medians of gradient symmetricity and of distance irrelevance, by bins of the attention rate.
    pub(crate) medians: [[f64; 2]; BINS],
}

/// Groups of the runs in `studies/clock-and-pizza/published.csv` (MIT, `LICENSE-published` beside it). The first has those that the
/// authors look at.
pub(crate) static GROUPS: [Group; 7] = [
    Group {
        widths: [128, 128],
        is_circular: true,
        runs: 817,
        medians: [
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
        ],
    },
    Group {
        widths: [32, 48],
        is_circular: false,
        runs: 170,
        medians: [
            [0.995, 0.341],
            [0.996, 0.276],
            [0.996, 0.382],
            [0.990, 0.430],
            [0.940, 0.460],
            [0.768, 0.687],
            [0.634, 0.764],
            [0.478, 0.803],
            [0.357, 0.831],
            [0.265, 0.827],
        ],
    },
    Group {
        widths: [49, 80],
        is_circular: false,
        runs: 201,
        medians: [
            [0.994, 0.275],
            [0.993, 0.306],
            [0.994, 0.306],
            [0.993, 0.336],
            [0.965, 0.405],
            [0.792, 0.583],
            [0.691, 0.652],
            [0.589, 0.726],
            [0.425, 0.760],
            [0.344, 0.815],
        ],
    },
    Group {
        widths: [81, 127],
        is_circular: false,
        runs: 190,
        medians: [
            [0.993, 0.233],
            [0.992, 0.444],
            [0.993, 0.349],
            [0.993, 0.287],
            [0.993, 0.302],
            [0.911, 0.421],
            [0.797, 0.635],
            [0.698, 0.712],
            [0.556, 0.800],
            [0.397, 0.850],
        ],
    },
    Group {
        widths: [128, 128],
        is_circular: false,
        runs: 2383,
        medians: [
            [0.993, 0.362],
            [0.992, 0.335],
            [0.992, 0.374],
            [0.992, 0.332],
            [0.993, 0.340],
            [0.991, 0.449],
            [0.871, 0.621],
            [0.722, 0.698],
            [0.613, 0.776],
            [0.483, 0.853],
        ],
    },
    Group {
        widths: [129, 256],
        is_circular: false,
        runs: 300,
        medians: [
            [0.993, 0.312],
            [0.992, 0.556],
            [0.991, 0.441],
            [0.991, 0.330],
            [0.993, 0.325],
            [0.993, 0.379],
            [0.991, 0.526],
            [0.879, 0.676],
            [0.671, 0.741],
            [0.566, 0.832],
        ],
    },
    Group {
        widths: [257, 512],
        is_circular: false,
        runs: 312,
        medians: [
            [0.992, 0.654],
            [0.992, 0.547],
            [0.992, 0.508],
            [0.991, 0.522],
            [0.990, 0.523],
            [0.992, 0.466],
            [0.993, 0.288],
            [0.993, 0.562],
            [0.984, 0.627],
            [0.938, 0.680],
        ],
    },
];

/// The published runs of a width, without regard to circularity.
pub(crate) fn of_width(width: u32) -> Option<&'static Group> {
    GROUPS
        .iter()
        .find(|group| !group.is_circular && group.widths[0] <= width && width <= group.widths[1])
}

/// The probability of one mode of distance irrelevance, by Silverman's test, over the runs of the first group.
pub(crate) const ONE_MODE: f64 = 0.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{median, one_mode};

    /// `[rate, width, accuracy, symmetricity, irrelevance, circularity]` of each run.
    fn published() -> Vec<[f64; 6]> {
        let table = include_str!("../../../studies/clock-and-pizza/published.csv");
        let row = |line: &str| {
            let cells = line.split(',').skip(1);
            let cells: Vec<f64> = cells.map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
            <[f64; 6]>::try_from(cells).unwrap_or_else(|_| panic!("{line}"))
        };
        table.lines().skip(1).map(row).collect()
    }

    fn of_group(group: &Group) -> Vec<[f64; 6]> {
        let widths = group.widths.map(f64::from);
        let mut runs = published();
        runs.retain(|&[_, width, accuracy, _, _, circularity]| {
            (widths[0]..=widths[1]).contains(&width)
                && accuracy >= 0.99
                && (!group.is_circular || circularity >= CIRCULAR)
        });
        runs
    }

    #[test]
    fn published_medians_are_those_of_the_table() {
        for group in &GROUPS {
            let runs = of_group(group);
            assert_eq!(runs.len(), group.runs);
            for (index, medians) in group.medians.iter().enumerate() {
                let own = runs.iter().filter(|run| bin(run[0]) == index);
                let (symmetricity, irrelevance): (Vec<f64>, Vec<f64>) =
                    own.map(|run| (run[3], run[4])).unzip();
                for (values, expected) in [symmetricity, irrelevance].iter().zip(medians) {
                    assert!((median(values) - expected).abs() <= 5.1e-4, "{expected}");
                }
            }
        }
    }

    #[test]
    fn the_published_runs_were_tested_for_one_mode() {
        let values: Vec<f64> = of_group(&GROUPS[0]).iter().map(|run| run[4]).collect();
        assert_eq!(one_mode(&values), Some(ONE_MODE));
        // And 150 of them, as many as ours.
        let fewer: Vec<f64> = values.iter().copied().step_by(5).take(150).collect();
        assert!(one_mode(&fewer).is_some_and(|value| value < 0.05));
    }
}
