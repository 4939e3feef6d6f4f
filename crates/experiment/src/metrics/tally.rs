//! Collects metrics sample by sample.

use super::loss::predicted_class;
use super::table::{METRICS, Metric, MetricInfo};
use super::values::{ClassMetrics, EvalMetrics};

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
}

/// How many samples of a class are classified correctly, and how many are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Of the class, and classified as it.
    pub found: usize,
    /// Of the class, and classified as another.
    pub missed: usize,
    /// Of another class, and classified as this one.
    pub false_alarms: usize,
}

/// Attention to the positions that decide the label, as paid and if it were uniform, summed over samples.
#[derive(Clone, Copy, Debug, Default)]
struct Attention {
    samples: usize,
    paid: f64,
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
        }
    }

    /// Adds a sample: its logits, their probabilities, its loss and its class.
    ///
    /// # Panics
    /// When there is no such class.
    pub fn add(&mut self, logits: &[f64], probabilities: &[f64], loss: f64, label: u8) {
        self.samples += 1;
        self.loss += loss;
        let predicted = predicted_class(logits);
        let counts = &mut self.counts[usize::from(label)];
        if predicted == label {
            counts.found += 1;
        } else {
            counts.missed += 1;
            self.counts[usize::from(predicted)].false_alarms += 1;
        }
        if let &[probability] = probabilities {
            if label == 1 {
                let least = self.min_positive.unwrap_or(probability);
                self.min_positive = Some(least.min(probability));
            } else {
                let most = self.max_negative.unwrap_or(probability);
                self.max_negative = Some(most.max(probability));
            }
        }
    }

    /// Adds a sample's attention to the positions that decide its label, as paid and if it were uniform.
    ///
    /// # Panics
    /// When there is no such class.
    pub fn add_attention(&mut self, label: u8, paid: f64, uniform: f64) {
        let sum = &mut self.attention[usize::from(label)];
        sum.samples += 1;
        sum.paid += paid;
        sum.uniform += uniform;
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
            Metric::AttentionPositive => positive.mean(positive.paid),
            Metric::AttentionNegative => negative.mean(negative.paid),
            Metric::UniformPositive => positive.mean(positive.uniform),
            Metric::UniformNegative => negative.mean(negative.uniform),
        };
        (self.samples > 0).then(|| EvalMetrics {
            values: METRICS.map(value),
            classes: self.classes(),
        })
    }

    fn classes(&self) -> Vec<ClassMetrics> {
        if self.counts.len() == 2 {
            return Vec::new();
        }
        let classes = self.counts.iter().zip(&self.attention);
        let metrics = |(counts, attention): (&Counts, &Attention)| ClassMetrics {
            samples: counts.found + counts.missed,
            precision: counts.precision(),
            recall: counts.recall(),
            f1: counts.f1(),
            attention: attention.mean(attention.paid),
            uniform: attention.mean(attention.uniform),
        };
        classes.map(metrics).collect()
    }
}

impl Counts {
    fn precision(&self) -> Option<f64> {
        share(self.found, self.found + self.false_alarms)
    }

    fn recall(&self) -> Option<f64> {
        share(self.found, self.found + self.missed)
    }

    fn f1(&self) -> Option<f64> {
        let twice = 2 * self.found;
        share(twice, twice + self.missed + self.false_alarms)
    }
}

/// F1 of class 1 of two; of more classes the mean of theirs.
pub fn f1(counts: &[Counts]) -> Option<f64> {
    over_classes(counts, Counts::f1)
}

/// A ratio of class 1 of two; of more classes the mean over those that samples have or are classified as. There a ratio
/// without samples counts as 0, as with scikit-learn's `average="macro", zero_division=0`.
fn over_classes(counts: &[Counts], ratio: fn(&Counts) -> Option<f64>) -> Option<f64> {
    if let [_, positive] = counts {
        return ratio(positive);
    }
    let occurring = counts.iter().filter(|&&counts| counts != Counts::default());
    let ratios = occurring.map(|counts| ratio(counts).unwrap_or(0.0));
    let (sum, count) = ratios.fold((0.0, 0), |(sum, count), ratio| (sum + ratio, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl Attention {
    fn and(self, other: Self) -> Self {
        Self {
            samples: self.samples + other.samples,
            paid: self.paid + other.paid,
            uniform: self.uniform + other.uniform,
        }
    }

    fn mean(self, sum: f64) -> Option<f64> {
        (self.samples > 0).then(|| sum / self.samples as f64)
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // Exact by construction.
mod tests {
    use super::*;
    use crate::metrics::{cross_entropy, probabilities};

    fn add(tally: &mut Tally, logits: &[f64], label: u8) {
        let loss = cross_entropy(logits, label);
        tally.add(logits, &probabilities(logits), loss, label);
    }

    #[test]
    fn counts_and_ratios() {
        let mut tally = Tally::new(2);
        // Two positives, one found; three negatives, one called positive.
        for (logit, label) in [(2.0, 1), (-1.0, 1), (1.0, 0), (-3.0, 0), (-4.0, 0)] {
            add(&mut tally, &[logit], label);
        }
        let metrics = tally.metrics().unwrap_or_else(|| unreachable!());
        assert_eq!(metrics[Metric::Accuracy], Some(0.6));
        assert_eq!(
            (
                metrics[Metric::Precision],
                metrics[Metric::Recall],
                metrics[Metric::F1]
            ),
            (Some(0.5), Some(0.5), Some(0.5))
        );
        assert_eq!(
            metrics[Metric::MinPositive],
            Some(probabilities(&[-1.0])[0])
        );
        assert_eq!(metrics[Metric::MaxNegative], Some(probabilities(&[1.0])[0]));
        let by_hand = [2.0_f64, -1.0, -1.0, 3.0, 4.0].map(|z| (1.0 + (-z).exp()).ln());
        let loss = metrics[Metric::Loss].unwrap_or(f64::NAN);
        assert!((loss - by_hand.iter().sum::<f64>() / 5.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_measure_on_is_none() {
        assert_eq!(Tally::new(2).metrics(), None);
        let mut tally = Tally::new(2);
        add(&mut tally, &[-1.0], 0);
        let metrics = tally.metrics().unwrap_or_else(|| unreachable!());
        assert_eq!(
            (
                metrics[Metric::Precision],
                metrics[Metric::Recall],
                metrics[Metric::F1]
            ),
            (None, None, None)
        );
        assert_eq!(metrics[Metric::AttentionPositive], None);
    }

    #[test]
    fn several_classes_have_means_and_metrics_of_their_own() {
        let mut tally = Tally::new(4);
        // Classes 0, 1 and 2 as scikit-learn has them in `f1_score([0, 1, 2, 0, 1, 2], [0, 2, 1, 0, 0, 1])`;
        // class 3 does not occur.
        for (label, predicted) in [(0, 0), (1, 2), (2, 1), (0, 0), (1, 0), (2, 1)] {
            let mut logits = [0.0; 4];
            logits[predicted] = 1.0;
            add(&mut tally, &logits, label);
        }
        tally.add_attention(0, 0.5, 0.25);
        tally.add_attention(1, 0.7, 0.25);
        tally.add_attention(2, 0.9, 0.25);
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
}
