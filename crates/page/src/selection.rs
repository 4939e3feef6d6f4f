//! The samples and steps that a page keeps of a run.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use headlight_dump::{Array, AttentionDump};
use headlight_report::evenly_spread;

/// The approximate size of the numbers of all runs of a page, in bytes before encoding, which takes a third off: a page has less
/// than 3 MB.
const BUDGET: usize = 3_000_000;

/// That of a live page, without vectors. It computes all of them soon after it opens.
const LIVE_BUDGET: usize = 24_000;

/// Steps are left out only if fewer samples than this would fit.
const SAMPLES_FIRST: usize = 32;

/// Up to this number of steps, the page keeps the vectors of each.
const ALL_STEPS: usize = 8;

/// The most bytes of the vectors of a live page, before encoding.
const LIVE_VECTORS: usize = 30_000;

/// The samples and steps that a page keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Rows of the dumps.
    pub(crate) samples: Vec<usize>,
    /// Indices of the dumps, by step.
    pub(crate) steps: Vec<usize>,
    /// The index of the best model among the kept steps, if the run keeps that model.
    pub(crate) best: Option<usize>,
    pub(crate) is_live: bool,
    /// Whether a live page has room for the vectors of a step.
    has_room: bool,
}

impl Selection {
    /// The largest selection that fits, for `steps` dumps like this one in each of `runs` runs: samples of
    /// all classes, and steps spread evenly from the first to the last. A live page needs few steps, since it computes
    /// all of them.
    pub(crate) fn of(
        dump: &AttentionDump,
        steps: usize,
        best: Option<usize>,
        runs: usize,
        is_live: bool,
    ) -> Self {
        let (budget, least) = if is_live {
            (LIVE_BUDGET, 1)
        } else {
            (BUDGET / runs, 2)
        };
        let wanted = dump.dims.samples.min(SAMPLES_FIRST);
        let all = steps;
        let mut steps = if is_live { steps.min(ALL_STEPS) } else { steps };
        while steps > least && cost(dump, steps, is_live) * wanted > budget {
            steps = (steps * 3 / 4).max(least);
        }
        let fit = (budget / cost(dump, steps, is_live)).max(1);
        let mut steps: Vec<usize> = if steps == 1 {
            vec![all - 1]
        } else {
            evenly_spread(all, steps).collect()
        };
        let best = best.map(|best| put(&mut steps, best));
        let labels: Vec<f32> = (0..dump.dims.samples).map(|row| dump.label(row)).collect();
        let samples = of_all_classes(&labels, fit);
        let has_room = 4 * vectors_per_sample(dump, is_live) * samples.len() <= LIVE_VECTORS;
        Self {
            samples,
            steps,
            best,
            is_live,
            has_room,
        }
    }

    /// Whether the page keeps the vectors of the kept step with this index.
    pub(crate) fn has_vectors(&self, step: usize) -> bool {
        let is_last = step + 1 == self.steps.len() || Some(step) == self.best;
        let is_wanted = self.steps.len() <= ALL_STEPS || step == 0;
        if self.is_live {
            is_last && self.has_room
        } else {
            is_last || is_wanted
        }
    }
}

/// The arrays of vectors that a page keeps of a dump, in their order. A live page computes all arrays soon after it
/// opens. Until then it shows the vectors up to a layer's first norm: so it stays small.
pub(crate) fn vectors(dump: &AttentionDump, is_live: bool) -> impl Iterator<Item = Array> {
    let wanted = Array::ALL.into_iter().filter(move |&array| {
        let is_early = array <= Array::Residual;
        !array.is_of_pairs() && (is_early || !is_live)
    });
    wanted.filter(|&array| !dump.arrays[array].is_empty())
}

/// Puts a step among others, in place of the nearest one between the first and the last if there is one. Returns its index.
fn put(steps: &mut Vec<usize>, step: usize) -> usize {
    if let Ok(index) = steps.binary_search(&step) {
        return index;
    }
    let between = 1..steps.len().saturating_sub(1);
    if let Some(index) = between.min_by_key(|&index| steps[index].abs_diff(step)) {
        steps[index] = step;
        return index;
    }
    let index = steps.partition_point(|&other| other < step);
    steps.insert(index, step);
    index
}

/// The numbers of one sample's vectors at one step.
fn vectors_per_sample(dump: &AttentionDump, is_live: bool) -> usize {
    let counts = vectors(dump, is_live).map(|array| dump.arrays[array].len());
    counts.sum::<usize>() / dump.dims.samples.max(1)
}

/// The approximate size of one sample in all steps, in bytes.
fn cost(dump: &AttentionDump, steps: usize, is_live: bool) -> usize {
    let dims = dump.dims;
    let matrices = dims.layers * dims.heads * dims.positions * dims.positions;
    let positions = if dims.per_position { dims.positions } else { 1 };
    let answers = 2 * dims.logits * positions;
    let numbers = steps * (matrices + answers) * 2;
    if is_live {
        return numbers.max(1);
    }
    let vectors = vectors_per_sample(dump, is_live);
    let with_vectors = if steps <= ALL_STEPS { steps } else { 2 };
    (numbers + with_vectors * vectors * 4).max(1)
}

/// The first rows of each class, in order: as many of each as of the others, and more where a class has too few.
/// Rows without a label are a class of their own.
fn of_all_classes(labels: &[f32], count: usize) -> Vec<usize> {
    let mut turns = BTreeMap::new();
    let row = |(row, label): (usize, &f32)| {
        let class = if label.is_nan() { -1 } else { *label as i64 };
        let turn = turns.entry(class).or_insert(0);
        *turn += 1;
        (*turn, Reverse(class), row)
    };
    let mut order: Vec<_> = labels.iter().enumerate().map(row).collect();
    order.sort_unstable();
    let kept = order.into_iter().take(count);
    let mut kept: Vec<usize> = kept.map(|(_, _, row)| row).collect();
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_step_is_kept() {
        for (best, index, expected) in [
            (0, 0, [0, 4, 9]),
            (1, 1, [0, 1, 9]),
            (4, 1, [0, 4, 9]),
            (8, 1, [0, 8, 9]),
            (9, 2, [0, 4, 9]),
        ] {
            let mut steps = vec![0, 4, 9];
            assert_eq!((put(&mut steps, best), &steps[..]), (index, &expected[..]));
        }
        let mut ends = vec![0, 9];
        assert_eq!((put(&mut ends, 5), &ends[..]), (1, &[0, 5, 9][..]));
    }

    #[test]
    fn classes_share_the_room() {
        let labels = [0.0, 0.0, 1.0, 0.0, 1.0, 1.0, f32::NAN];
        assert_eq!(of_all_classes(&labels, 4), [0, 2, 4, 6]);
        assert_eq!(of_all_classes(&[2.0, 2.0, 2.0, 0.0, 1.0], 4), [0, 1, 3, 4]);
        assert_eq!(of_all_classes(&labels, 9), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(of_all_classes(&[0.0, 0.0, 0.0], 2), [0, 1]);
        assert_eq!(of_all_classes(&[1.0, 1.0, 1.0], 2), [0, 1]);
        assert_eq!(of_all_classes(&labels, 1), [2]);
    }
}
