//! How well scores put the samples of a class before all others, whatever the threshold.

use super::confusion::{Counts, share};

/// Samples in descending order of their scores for a class, which is called positive here. Samples with equal scores
/// have one rank.
#[derive(Clone, Debug, PartialEq)]
pub struct RankingMetrics {
    ranks: Vec<Rank>,
    positives: usize,
    negatives: usize,
}

/// A score, and how many samples have that score or a higher one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rank {
    score: f64,
    positives: usize,
    negatives: usize,
}

impl RankingMetrics {
    /// The ranking of samples: for each its score, and whether it is a positive.
    pub fn of(samples: impl IntoIterator<Item = (f64, bool)>) -> Self {
        let mut samples: Vec<(f64, bool)> = samples.into_iter().collect();
        samples.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let mut ranks: Vec<Rank> = Vec::new();
        let [mut positives, mut negatives] = [0, 0];
        for same in samples.chunk_by(|(a, _), (b, _)| a.total_cmp(b).is_eq()) {
            let found = same.iter().filter(|(_, positive)| *positive).count();
            positives += found;
            negatives += same.len() - found;
            ranks.push(Rank {
                score: same[0].0,
                positives,
                negatives,
            });
        }
        Self {
            ranks,
            positives,
            negatives,
        }
    }

    /// The area under the ROC curve: the share of pairs of a positive and a negative in which the positive has the
    /// higher score; a pair with equal scores counts one half. `None` without positives or without negatives.
    pub fn roc_auc(&self) -> Option<f64> {
        let mut twice = 0;
        let mut before = [0, 0];
        for rank in &self.ranks {
            // Trapezoids, in whole numbers: exact.
            twice += (rank.negatives - before[1]) as u128 * (rank.positives + before[0]) as u128;
            before = [rank.positives, rank.negatives];
        }
        let pairs = self.positives as u128 * self.negatives as u128;
        (pairs > 0).then(|| twice as f64 / (2 * pairs) as f64)
    }

    /// Average precision, `sum (R_n - R_(n-1)) P_n` over all scores, in descending order, as scikit-learn has it.
    /// `None` without positives.
    pub fn average_precision(&self) -> Option<f64> {
        let mut area = 0.0;
        let mut before = 0;
        for rank in &self.ranks {
            let precision = rank.positives as f64 / (rank.positives + rank.negatives) as f64;
            area += (rank.positives - before) as f64 * precision;
            before = rank.positives;
        }
        (self.positives > 0).then(|| area / self.positives as f64)
    }

    /// The counts if samples with this score or a higher one are classified as positive.
    pub fn at(&self, threshold: f64) -> Counts {
        let above = self.ranks.partition_point(|rank| rank.score >= threshold);
        self.counts(above.checked_sub(1).map(|last| &self.ranks[last]))
    }

    /// The threshold with the highest F1, and its counts; of equally good counts, those of the highest thresholds. All
    /// thresholds above the next lower score, up to the last score that is classified as positive, give these counts: this
    /// is the one in the middle, which is as far as possible from changing them. `None` without positives.
    pub fn best_f1(&self) -> Option<(f64, Counts)> {
        let mut best: Option<(usize, Counts)> = None;
        for (index, rank) in self.ranks.iter().enumerate() {
            let counts = self.counts(Some(rank));
            if self.positives > 0 && best.is_none_or(|(_, best)| counts.f1() > best.f1()) {
                best = Some((index, counts));
            }
        }
        let (index, counts) = best?;
        let last = self.ranks[index].score;
        let next = self.ranks.get(index + 1).map_or(last, |next| next.score);
        let middle = f64::midpoint(last, next);
        // Between neighbouring floats, the middle is one of them.
        Some((if middle > next { middle } else { last }, counts))
    }

    /// The ROC curve: the share of negatives and that of positives that are classified as positive, as the threshold
    /// falls. Empty without positives or without negatives.
    pub fn roc(&self) -> Vec<[f64; 2]> {
        let start = self.counts(None);
        let counts = self.ranks.iter().map(|rank| self.counts(Some(rank)));
        let point = |counts: Counts| {
            Some([
                share(counts.false_alarms, self.negatives)?,
                counts.recall()?,
            ])
        };
        [start]
            .into_iter()
            .chain(counts)
            .filter_map(point)
            .collect()
    }

    /// The precision-recall curve, recall first, as the threshold falls. It has steps, so that the area under it is
    /// the average precision. Empty without positives.
    pub fn precision_recall(&self) -> Vec<[f64; 2]> {
        let mut before = 0.0;
        let counts = self.ranks.iter().map(|rank| self.counts(Some(rank)));
        let step = |counts: Counts| {
            let (recall, precision) = (counts.recall()?, counts.precision()?);
            let step = [[before, precision], [recall, precision]];
            before = recall;
            Some(step)
        };
        counts.filter_map(step).flatten().collect()
    }

    /// The counts if the samples up to this rank are classified as positive.
    fn counts(&self, last: Option<&Rank>) -> Counts {
        let found = last.map_or(0, |rank| rank.positives);
        Counts {
            found,
            missed: self.positives - found,
            false_alarms: last.map_or(0, |rank| rank.negatives),
        }
    }
}
