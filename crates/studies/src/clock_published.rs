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

/// Groups of the runs in `studies/clock-and-pizza/published.csv` (MIT, `LICENSE-published` beside it).
pub(crate) static GROUPS: [Group; 8] = [
    Group {
        widths: [128, 128],
        is_circular: true,
        runs: 817,
        medians: [
            [0.99367, 0.20036],
            [0.99307, 0.21007],
            [0.99233, 0.23958],
            [0.99271, 0.21091],
            [0.99340, 0.25559],
            [0.93052, 0.39934],
            [0.75024, 0.62717],
            [0.62356, 0.69715],
            [0.53881, 0.77079],
            [0.45092, 0.82843],
        ],
    },
    Group {
        widths: [49, 80],
        is_circular: true,
        runs: 87,
        medians: [
            [0.99458, 0.22156],
            [0.99325, 0.24370],
            [0.99517, 0.24430],
            [0.99283, 0.32962],
            [0.91173, 0.40124],
            [0.72674, 0.57387],
            [0.65282, 0.67380],
            [0.56419, 0.71609],
            [0.34424, 0.73228],
            [0.33799, 0.80647],
        ],
    },
    Group {
        widths: [32, 48],
        is_circular: false,
        runs: 170,
        medians: [
            [0.99541, 0.34116],
            [0.99575, 0.27626],
            [0.99586, 0.38242],
            [0.98957, 0.43007],
            [0.93974, 0.45997],
            [0.76820, 0.68681],
            [0.63377, 0.76358],
            [0.47759, 0.80340],
            [0.35686, 0.83098],
            [0.26535, 0.82691],
        ],
    },
    Group {
        widths: [49, 80],
        is_circular: false,
        runs: 201,
        medians: [
            [0.99431, 0.27482],
            [0.99267, 0.30573],
            [0.99385, 0.30600],
            [0.99307, 0.33635],
            [0.96538, 0.40525],
            [0.79216, 0.58306],
            [0.69063, 0.65232],
            [0.58908, 0.72635],
            [0.42473, 0.75958],
            [0.34429, 0.81489],
        ],
    },
    Group {
        widths: [81, 127],
        is_circular: false,
        runs: 190,
        medians: [
            [0.99346, 0.23320],
            [0.99181, 0.44382],
            [0.99257, 0.34908],
            [0.99325, 0.28661],
            [0.99341, 0.30190],
            [0.91072, 0.42116],
            [0.79720, 0.63491],
            [0.69829, 0.71210],
            [0.55551, 0.80018],
            [0.39716, 0.84964],
        ],
    },
    Group {
        widths: [128, 128],
        is_circular: false,
        runs: 2383,
        medians: [
            [0.99286, 0.36172],
            [0.99238, 0.33519],
            [0.99154, 0.37409],
            [0.99230, 0.33188],
            [0.99322, 0.34005],
            [0.99106, 0.44884],
            [0.87106, 0.62113],
            [0.72235, 0.69812],
            [0.61338, 0.77551],
            [0.48312, 0.85274],
        ],
    },
    Group {
        widths: [129, 256],
        is_circular: false,
        runs: 300,
        medians: [
            [0.99267, 0.31207],
            [0.99209, 0.55622],
            [0.99091, 0.44057],
            [0.99107, 0.32971],
            [0.99294, 0.32511],
            [0.99288, 0.37904],
            [0.99109, 0.52646],
            [0.87857, 0.67627],
            [0.67067, 0.74107],
            [0.56581, 0.83154],
        ],
    },
    Group {
        widths: [257, 512],
        is_circular: false,
        runs: 312,
        medians: [
            [0.99242, 0.65386],
            [0.99239, 0.54717],
            [0.99167, 0.50796],
            [0.99078, 0.52209],
            [0.99030, 0.52258],
            [0.99228, 0.46603],
            [0.99296, 0.28809],
            [0.99253, 0.56188],
            [0.98418, 0.62679],
            [0.93845, 0.68047],
        ],
    },
];

/// The published runs of widths around one, with or without regard to circularity.
pub(crate) fn of_width(width: u32, is_circular: bool) -> Option<&'static Group> {
    GROUPS.iter().find(|group| {
        group.is_circular == is_circular && group.widths[0] <= width && width <= group.widths[1]
    })
}

/// The probability of one mode of distance irrelevance, by Silverman's test, over the circular runs of width 128.
pub(crate) const ONE_MODE: f64 = 0.0;

/// In how many of the bins of these runs the test rules out one mode at the level 0.05, and how many bins there are.
pub(crate) const ONE_MODE_IN_BINS: [usize; 2] = [1, 10];

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
                    assert!((median(values) - expected).abs() <= 5.1e-6, "{expected}");
                }
            }
        }
    }

    #[test]
    fn the_published_runs_were_tested_for_one_mode() {
        let irrelevance =
            |runs: &[[f64; 6]]| -> Vec<f64> { runs.iter().map(|run| run[4]).collect() };
        let runs = of_group(&GROUPS[0]);
        assert_eq!(one_mode(&irrelevance(&runs)), Some(ONE_MODE));
        // And as many as ours of them, and those of the widths around 64, whatever their circularity.
        let fewer: Vec<f64> = irrelevance(&runs)
            .into_iter()
            .step_by(5)
            .take(150)
            .collect();
        let near = of_width(64, false).map_or_else(Vec::new, |group| irrelevance(&of_group(group)));
        for values in [fewer, near] {
            assert!(one_mode(&values).is_some_and(|value| value < 0.05));
        }
        let bins = (0..BINS).map(|index| {
            let own: Vec<_> = runs
                .iter()
                .filter(|run| bin(run[0]) == index)
                .copied()
                .collect();
            irrelevance(&own)
        });
        let found: Vec<f64> = bins.filter_map(|values| one_mode(&values)).collect();
        let ruled_out = found.iter().filter(|&&value| value < 0.05).count();
        assert_eq!([ruled_out, found.len()], ONE_MODE_IN_BINS);
    }
}
