//! Collects metrics sample by sample.

use super::confusion::{Counts, count_sample, f1, over_classes, share};
use super::loss::predicted_class;
use super::table::{METRICS, Metric, MetricInfo};
use super::values::{CLASS_METRICS_LIMIT, ClassMetrics, EvalMetrics};

/// Collects [`EvalMetrics`] sample by sample.
#[derive(Clone, Debug)]
pub struct Tally {
    samples: usize,
    loss: f64,
    min_positive: Option<f64>,
    max_negative: Option<f64>,
    /// `[class]`
    counts: Vec<Counts>,
    /// `[class]`
    attention: Vec<Attention>,
    /// Samples with labels per position, one of which counts, and those of them whose every label is predicted.
    whole: [usize; 2],
}

/// Attention to the positions that decide the label, as paid and if it were uniform, summed over samples.
#[derive(Clone, Copy, Debug, Default)]
struct Attention {
    samples: usize,
    paid: f64,
    /// The samples in which the readout position may look at a key.
    with_keys: usize,
    uniform: f64,
}

impl Tally {
    /// A tally of no samples yet.
    pub fn new(n_classes: usize) -> Self {
        Self {
            samples: 0,
            loss: 0.0,
            min_positive: None,
            max_negative: None,
            counts: vec![Counts::default(); n_classes],
            attention: vec![Attention::default(); n_classes],
            whole: [0; 2],
        }
    }

    /// Counts a sample with labels per position, which were added one by one; `None` if none of them counts.
    pub fn add_whole(&mut self, is_right: Option<bool>) {
        self.whole[0] += usize::from(is_right.is_some());
        self.whole[1] += usize::from(is_right == Some(true));
    }

    /// Adds a sample, or a position that counts: its logits, their probabilities, its loss and its class.
    ///
    /// # Panics
    /// When there is no such class.
    pub fn add(&mut self, logits: &[f64], probabilities: &[f64], loss: f64, label: u32) {
        self.samples += 1;
        self.loss += loss;
        count_sample(&mut self.counts, label, predicted_class(logits));
        if let &([probability] | [_, probability]) = probabilities {
            if label == 1 {
                let least = self.min_positive.unwrap_or(probability);
                self.min_positive = Some(least.min(probability));
            } else {
                let most = self.max_negative.unwrap_or(probability);
                self.max_negative = Some(most.max(probability));
            }
        }
    }

    /// Adds a sample's attention to the positions that decide its label, as paid and if it were uniform; `None` if
    /// the readout position may look at no key.
    ///
    /// # Panics
    /// When there is no such class.
    pub fn add_attention(&mut self, label: u32, paid: f64, uniform: Option<f64>) {
        let sum = &mut self.attention[label as usize];
        sum.samples += 1;
        sum.paid += paid;
        sum.with_keys += usize::from(uniform.is_some());
        sum.uniform += uniform.unwrap_or(0.0);
    }

    /// The metrics over all samples so far; `None` before the first.
    pub fn metrics(&self) -> Option<EvalMetrics> {
        let counts = &self.counts;
        let found: usize = counts.iter().map(|counts| counts.found).sum();
        let negative = self.attention[0];
        let positive = self.attention[1..]
            .iter()
            .fold(Attention::default(), |sum, &class| sum.and(class));
        let value = |info: MetricInfo| match info.metric {
            Metric::Loss => Some(self.loss / self.samples as f64),
            Metric::Accuracy => share(found, self.samples),
            Metric::Precision => over_classes(counts, Counts::precision),
            Metric::Recall => over_classes(counts, Counts::recall),
            Metric::F1 => f1(counts),
            Metric::MinPositive => self.min_positive,
            Metric::MaxNegative => self.max_negative,
            Metric::AttentionPositive => positive.paid(),
            Metric::AttentionNegative => negative.paid(),
            Metric::UniformPositive => positive.uniform(),
            Metric::UniformNegative => negative.uniform(),
        };
        (self.samples > 0).then(|| EvalMetrics {
            values: METRICS.map(value),
            classes: self.classes(counts),
            one_class: one_class(counts),
            whole_samples: share(self.whole[1], self.whole[0]),
        })
    }

    /// The counts of each class.
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    fn classes(&self, counts: &[Counts]) -> Vec<ClassMetrics> {
        if counts.len() == 2 || counts.len() > CLASS_METRICS_LIMIT {
            return Vec::new();
        }
        let classes = counts.iter().zip(&self.attention);
        let metrics = |(counts, attention): (&Counts, &Attention)| ClassMetrics {
            samples: counts.samples(),
            precision: counts.precision(),
            recall: counts.recall(),
            f1: counts.f1(),
            attention: attention.paid(),
            uniform: attention.uniform(),
        };
        classes.map(metrics).collect()
    }
}

/// Of more classes than have metrics of their own, the one that all samples are classified as.
fn one_class(counts: &[Counts]) -> Option<u32> {
    let classes = counts.iter().enumerate();
    let mut predicted = classes.filter(|(_, counts)| counts.predicted() > 0);
    let (first, second) = (predicted.next(), predicted.next());
    let is_one = counts.len() > CLASS_METRICS_LIMIT && second.is_none();
    first.filter(|_| is_one).map(|(class, _)| class as u32)
}

impl Attention {
    fn and(self, other: Self) -> Self {
        Self {
            samples: self.samples + other.samples,
            paid: self.paid + other.paid,
            with_keys: self.with_keys + other.with_keys,
            uniform: self.uniform + other.uniform,
        }
    }

    fn paid(self) -> Option<f64> {
        (self.samples > 0).then(|| self.paid / self.samples as f64)
    }

    fn uniform(self) -> Option<f64> {
        (self.with_keys > 0).then(|| self.uniform / self.with_keys as f64)
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // Exact by construction.
mod tests {
    use super::*;
    use crate::metrics::{cross_entropy, probabilities};

    #[test]
    fn several_classes_have_means_and_metrics_of_their_own() {
        let mut tally = Tally::new(4);
        // Classes 0, 1 and 2 as scikit-learn has them in `f1_score([0, 1, 2, 0, 1, 2], [0, 2, 1, 0, 0, 1])`;
        // class 3 does not occur.
        for (label, predicted) in [(0, 0), (1, 2), (2, 1), (0, 0), (1, 0), (2, 1)] {
            let mut logits = [0.0; 4];
            logits[predicted] = 1.0;
            let loss = cross_entropy(&logits, label);
            tally.add(&logits, &probabilities(&logits), loss, label);
        }
        tally.add_attention(0, 0.5, Some(0.25));
        tally.add_attention(1, 0.7, Some(0.25));
        tally.add_attention(2, 0.9, None);
        let metrics = tally.metrics().unwrap_or_else(|| unreachable!());
        let close = |metric: Metric, expected: f64| {
            let value = metrics[metric].unwrap_or(f64::NAN);
            assert!((value - expected).abs() < 1e-15, "{metric:?}: {value}");
        };
        close(Metric::Accuracy, 2.0 / 6.0);
        close(Metric::Precision, 2.0 / 9.0);
        close(Metric::Recall, 1.0 / 3.0);
        close(Metric::F1, 0.8 / 3.0);
        close(Metric::AttentionPositive, 0.8);
        close(Metric::AttentionNegative, 0.5);
        assert_eq!(metrics[Metric::MinPositive], None);
        let samples = metrics.classes.iter().map(|class| class.samples);
        assert_eq!(samples.collect::<Vec<_>>(), [2, 2, 2, 0]);
        assert_eq!(metrics.classes[0].f1, Some(0.8));
        assert_eq!(metrics.classes[1].precision, Some(0.0));
        assert_eq!(metrics.classes[3].recall, None);
        assert_eq!(metrics.classes[2].attention, Some(0.9));
    }

    /// Of more than 64 classes, the one that all samples are classified as is told, and none has metrics.
    #[test]
    fn many_classes_have_no_metrics_of_their_own() {
        for (count, told) in [(64, None), (65, Some(3))] {
            let mut tally = Tally::new(count);
            let mut logits = vec![0.0; count];
            logits[3] = 1.0;
            for label in [3, 5] {
                tally.add(&logits, &probabilities(&logits), 1.0, label);
            }
            let metrics = tally.metrics().unwrap_or_else(|| unreachable!());
            assert_eq!(metrics.one_class, told);
            assert_eq!(metrics.classes.is_empty(), told.is_some());
            assert_eq!(metrics.only_predicted(), Some(3));
        }
    }
}
