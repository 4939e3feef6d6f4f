//! What of a run's dumps a page holds.

use headlight_dump::{AttentionDump, Dims};

/// About as many bytes of numbers as a page may hold of all its runs, before they are written as text.
const BUDGET: usize = 17_000_000;

/// As many samples are kept before steps are left out.
const SAMPLES_FIRST: usize = 32;

/// Up to so many steps, all of them have the vectors.
const ALL_STEPS: usize = 8;

/// Which samples and which steps a page holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Selection {
    /// Rows of the dumps.
    pub(super) samples: Vec<usize>,
    /// Indices of the dumps, by step.
    pub(super) steps: Vec<usize>,
}

impl Selection {
    /// The largest that fits, for so many dumps like this one in each of so many runs: of both
    /// classes as many samples as can be, and the first and the last step.
    pub(super) fn of(dump: &AttentionDump, steps: usize, runs: usize) -> Self {
        let budget = BUDGET / runs;
        let wanted = dump.dims.samples.min(SAMPLES_FIRST);
        let all = steps;
        let mut steps = steps;
        while steps > 2 && cost(dump.dims, steps) * wanted > budget {
            steps = (steps * 3 / 4).max(2);
        }
        let fit = (budget / cost(dump.dims, steps)).max(1);
        let spread = |index: usize| index * (all - 1) / (steps - 1).max(1);
        Self {
            samples: of_both_classes(&dump.labels, fit),
            steps: if steps == 1 {
                vec![all - 1]
            } else {
                (0..steps).map(spread).collect()
            },
        }
    }

    /// Whether the vectors of the kept step of this index are kept too.
    pub(super) fn has_vectors(&self, step: usize) -> bool {
        self.steps.len() <= ALL_STEPS || step == 0 || step + 1 == self.steps.len()
    }
}

/// Bytes of a sample in all steps, about.
fn cost(dims: Dims, steps: usize) -> usize {
    let matrices = dims.layers * dims.heads * dims.positions * dims.positions;
    let vectors = dims.layers * dims.heads * dims.positions * dims.d_head * 4
        + dims.positions * dims.d_model * (1 + dims.layers);
    let with_vectors = if steps <= ALL_STEPS { steps } else { 2 };
    (steps * matrices * 2 + with_vectors * vectors * 4).max(1)
}

/// The first rows of each class, about half of each where there are enough, in order.
fn of_both_classes(labels: &[f32], count: usize) -> Vec<usize> {
    let rows = |positive: bool| {
        let is = move |row: &usize| (labels[*row] > 0.5) == positive;
        (0..labels.len()).filter(is).collect::<Vec<usize>>()
    };
    let (positives, negatives) = (rows(true), rows(false));
    let few = positives.len().min(count.div_ceil(2));
    let few = few.max(count.saturating_sub(negatives.len()).min(positives.len()));
    let mut kept = positives[..few].to_vec();
    kept.extend(negatives.iter().take(count - few));
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_share_the_room() {
        let labels = [0.0, 0.0, 1.0, 0.0, 1.0, 1.0, f32::NAN];
        assert_eq!(of_both_classes(&labels, 4), [0, 1, 2, 4]);
        assert_eq!(of_both_classes(&labels, 9), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(of_both_classes(&[0.0, 0.0, 0.0], 2), [0, 1]);
        assert_eq!(of_both_classes(&[1.0, 1.0, 1.0], 2), [0, 1]);
        assert_eq!(of_both_classes(&labels, 1), [2]);
    }
}
