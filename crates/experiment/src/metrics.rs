//! Metrics of a classifier, and of the attention of `[CLS]` to the positions that decide the label.
//!
//! [`METRICS`] lists every metric once. All code that shows, writes or reads metrics iterates over it.

use std::ops::Index;

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

/// A metric of a model on a whole split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Mean binary cross-entropy, in nats.
    Loss,
    /// Share of samples that are classified correctly.
    Accuracy,
    /// Share of true positives among samples classified as positive.
    Precision,
    /// Share of positive samples that are classified as positive.
    Recall,
    /// Harmonic mean of precision and recall.
    F1,
    /// Smallest probability of a positive sample.
    MinPositive,
    /// Largest probability of a negative sample.
    MaxNegative,
    /// Attention of `[CLS]` to the positions that decide the label, in the last block: the sum over these
    /// positions, averaged over heads and positive samples.
    AttentionPositive,
    /// The same over negative samples.
    AttentionNegative,
    /// `AttentionPositive` for uniform attention.
    UniformPositive,
    /// `AttentionNegative` for uniform attention.
    UniformNegative,
}

/// The names of a metric, and how tables show it.
#[derive(Clone, Copy, Debug)]
pub struct MetricInfo {
    /// The metric.
    pub metric: Metric,
    /// Its key in `metrics.jsonl`; for held-out samples, `held_out_` precedes it.
    pub name: &'static str,
    /// Its name in tables.
    pub label: &'static str,
    /// Digits after the decimal point in tables.
    pub decimals: usize,
    /// Its key and its label in the rows of a sweep; `None` if it is not part of them. Rows hold a ratio for
    /// held-out samples too.
    pub row: Option<[&'static str; 2]>,
    /// Whether it is a loss or a ratio of counts. The table of a run's report shows these.
    pub is_ratio: bool,
    /// Whether less or more of it is better; `None` if `training.keep_best` cannot name it.
    better: Option<Better>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Better {
    Less,
    More,
}

/// All metrics, in the order of [`Metric`].
pub const METRICS: [MetricInfo; 11] = {
    use Metric::{
        Accuracy, AttentionNegative, AttentionPositive, F1, Loss, MaxNegative, MinPositive,
        Precision, Recall, UniformNegative, UniformPositive,
    };
    const fn ratio(
        metric: Metric,
        [name, label]: [&'static str; 2],
        row: [&'static str; 2],
        decimals: usize,
        better: Option<Better>,
    ) -> MetricInfo {
        MetricInfo {
            metric,
            name,
            label,
            decimals,
            row: Some(row),
            is_ratio: true,
            better,
        }
    }
    const fn other(
        metric: Metric,
        [name, label]: [&'static str; 2],
        decimals: usize,
        in_rows: bool,
    ) -> MetricInfo {
        MetricInfo {
            metric,
            name,
            label,
            decimals,
            row: if in_rows { Some([name, label]) } else { None },
            is_ratio: false,
            better: None,
        }
    }
    let (less, more) = (Some(Better::Less), Some(Better::More));
    [
        ratio(
            Loss,
            ["loss", "loss"],
            ["final_loss", "final loss"],
            5,
            less,
        ),
        ratio(Accuracy, ["accuracy"; 2], ["accuracy"; 2], 5, more),
        ratio(Precision, ["precision"; 2], ["precision"; 2], 4, None),
        ratio(Recall, ["recall"; 2], ["recall"; 2], 4, None),
        ratio(F1, ["f1", "F1"], ["f1", "F1"], 4, more),
        other(
            MinPositive,
            ["min_positive", "smallest probability of a positive"],
            4,
            true,
        ),
        other(
            MaxNegative,
            ["max_negative", "largest probability of a negative"],
            4,
            true,
        ),
        other(
            AttentionPositive,
            ["attention_positive", "attention, positives"],
            3,
            false,
        ),
        other(
            AttentionNegative,
            ["attention_negative", "attention, negatives"],
            3,
            false,
        ),
        other(
            UniformPositive,
            ["uniform_positive", "uniform, positives"],
            3,
            false,
        ),
        other(
            UniformNegative,
            ["uniform_negative", "uniform, negatives"],
            3,
            false,
        ),
    ]
};

/// The values of all metrics on a split; `None` for a metric that has no samples to measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvalMetrics([Option<f64>; METRICS.len()]);

impl Index<Metric> for EvalMetrics {
    type Output = Option<f64>;

    fn index(&self, metric: Metric) -> &Option<f64> {
        &self.0[metric as usize]
    }
}

impl EvalMetrics {
    /// All metrics with their values.
    pub fn entries(&self) -> impl Iterator<Item = (&'static MetricInfo, Option<f64>)> {
        METRICS.iter().zip(self.0)
    }

    /// The metrics of a line whose keys start with `prefix`; `None` if loss or accuracy is missing.
    fn read(line: &Value, prefix: &str) -> Option<Self> {
        let value = |info: MetricInfo| line.get(format!("{prefix}{}", info.name))?.as_f64();
        let metrics = Self(METRICS.map(value));
        metrics[Metric::Loss].and(metrics[Metric::Accuracy])?;
        Some(metrics)
    }
}

/// A metric, on training or held-out samples, by which models can be compared. Its name is a key of
/// `metrics.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    metric: Metric,
    held_out: bool,
}

const HELD_OUT: &str = "held_out_";

impl Measure {
    /// All measures.
    fn all() -> impl Iterator<Item = Self> {
        [false, true].into_iter().flat_map(|held_out| {
            let named = METRICS.iter().filter(|info| info.better.is_some());
            named.map(move |info| Self {
                metric: info.metric,
                held_out,
            })
        })
    }

    /// Whether it is measured on held-out samples.
    pub fn is_held_out(self) -> bool {
        self.held_out
    }

    /// Its name in configs.
    pub fn name(self) -> String {
        let prefix = if self.held_out { HELD_OUT } else { "" };
        format!("{prefix}{}", METRICS[self.metric as usize].name)
    }

    /// Whether `value` is better than `than`.
    pub fn is_better(self, value: f64, than: f64) -> bool {
        match METRICS[self.metric as usize].better {
            Some(Better::Less) => value < than,
            _ => value > than,
        }
    }
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let found = Self::all().find(|measure| measure.name() == text);
        found.ok_or_else(|| {
            let names: Vec<String> = Self::all().map(Self::name).collect();
            let names = names.join(", ");
            de::Error::custom(format!("unknown measure `{text}`; it can be {names}"))
        })
    }
}

/// A row of `metrics.jsonl`: a step of training, and the metrics of the model after it.
#[derive(Clone, Debug, PartialEq)]
pub struct StepMetrics {
    /// Epochs finished.
    pub epoch: usize,
    /// Steps taken.
    pub step: usize,
    /// Mean of the batches' losses since the epoch began, as Keras reports it; `None` before the
    /// first step.
    pub train_loss: Option<f64>,
    /// On the training samples, with the weights after this step.
    pub train: EvalMetrics,
    /// On the held-out samples, if the dataset has any.
    pub held_out: Option<EvalMetrics>,
}

impl StepMetrics {
    /// Reads a row back with exactly the same numbers; `None` for any other JSON.
    pub fn read(line: &Value) -> Option<Self> {
        let count = |name: &str| usize::try_from(line.get(name)?.as_u64()?).ok();
        Some(Self {
            epoch: count("epoch")?,
            step: count("step")?,
            train_loss: line.get("train_loss")?.as_f64(),
            train: EvalMetrics::read(line, "")?,
            held_out: EvalMetrics::read(line, HELD_OUT),
        })
    }

    /// The value of a measure, if it was measured.
    pub fn measure(&self, Measure { metric, held_out }: Measure) -> Option<f64> {
        if held_out {
            self.held_out.as_ref()?[metric]
        } else {
            self.train[metric]
        }
    }
}

impl Serialize for StepMetrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("epoch", &self.epoch)?;
        map.serialize_entry("step", &self.step)?;
        map.serialize_entry("train_loss", &self.train_loss)?;
        for (info, value) in self.train.entries() {
            map.serialize_entry(info.name, &value)?;
        }
        for (info, value) in self.held_out.iter().flat_map(EvalMetrics::entries) {
            map.serialize_entry(&format!("{HELD_OUT}{}", info.name), &value)?;
        }
        map.end()
    }
}

/// Collects [`EvalMetrics`] sample by sample.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    samples: usize,
    loss: f64,
    true_positives: usize,
    false_positives: usize,
    false_negatives: usize,
    min_positive: Option<f64>,
    max_negative: Option<f64>,
    positive: Attention,
    negative: Attention,
}

/// Attention to the positions that decide the label, as paid and if it were uniform, summed over samples.
#[derive(Clone, Copy, Debug, Default)]
struct Attention {
    samples: usize,
    paid: f64,
    uniform: f64,
}

impl Tally {
    /// Adds a sample: log-odds, probability, loss and label.
    pub fn add(&mut self, logit: f64, probability: f64, loss: f64, label: bool) {
        self.samples += 1;
        self.loss += loss;
        let predicted = logit > 0.0;
        match (label, predicted) {
            (true, true) => self.true_positives += 1,
            (true, false) => self.false_negatives += 1,
            (false, true) => self.false_positives += 1,
            (false, false) => {}
        }
        if label {
            let least = self.min_positive.unwrap_or(probability);
            self.min_positive = Some(least.min(probability));
        } else {
            let most = self.max_negative.unwrap_or(probability);
            self.max_negative = Some(most.max(probability));
        }
    }

    /// Adds a sample's attention to the positions that decide its label, as paid and if it were uniform.
    pub fn add_attention(&mut self, label: bool, paid: f64, uniform: f64) {
        let sum = if label {
            &mut self.positive
        } else {
            &mut self.negative
        };
        sum.samples += 1;
        sum.paid += paid;
        sum.uniform += uniform;
    }

    /// The metrics over all samples so far; `None` before the first.
    pub fn metrics(&self) -> Option<EvalMetrics> {
        let ratio = |part: usize, whole: usize| (whole > 0).then(|| part as f64 / whole as f64);
        let wrong = self.false_positives + self.false_negatives;
        let found = self.true_positives;
        let value = |info: MetricInfo| match info.metric {
            Metric::Loss => Some(self.loss / self.samples as f64),
            Metric::Accuracy => ratio(self.samples - wrong, self.samples),
            Metric::Precision => ratio(found, found + self.false_positives),
            Metric::Recall => ratio(found, found + self.false_negatives),
            Metric::F1 => ratio(2 * found, 2 * found + wrong),
            Metric::MinPositive => self.min_positive,
            Metric::MaxNegative => self.max_negative,
            Metric::AttentionPositive => self.positive.mean(self.positive.paid),
            Metric::AttentionNegative => self.negative.mean(self.negative.paid),
            Metric::UniformPositive => self.positive.mean(self.positive.uniform),
            Metric::UniformNegative => self.negative.mean(self.negative.uniform),
        };
        (self.samples > 0).then(|| EvalMetrics(METRICS.map(value)))
    }
}

impl Attention {
    fn mean(self, sum: f64) -> Option<f64> {
        (self.samples > 0).then(|| sum / self.samples as f64)
    }
}

/// The probability of the positive class.
pub fn sigmoid(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

/// `-log p(label)`, from log-odds, without overflow: `max(z, 0) - z y + log(1 + exp(-|z|))`.
pub fn binary_cross_entropy(logit: f64, label: bool) -> f64 {
    let target = f64::from(u8::from(label));
    logit.max(0.0) - logit * target + (-logit.abs()).exp().ln_1p()
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // Exact by construction.
mod tests {
    use super::*;

    fn add(tally: &mut Tally, logit: f64, label: bool) {
        tally.add(
            logit,
            sigmoid(logit),
            binary_cross_entropy(logit, label),
            label,
        );
    }

    #[test]
    fn the_table_is_in_the_order_of_metrics() {
        for (index, info) in METRICS.iter().enumerate() {
            assert_eq!(info.metric as usize, index, "{}", info.name);
        }
    }

    #[test]
    fn counts_and_ratios() {
        let mut tally = Tally::default();
        // Two positives, one found; three negatives, one called positive.
        for (logit, label) in [
            (2.0, true),
            (-1.0, true),
            (1.0, false),
            (-3.0, false),
            (-4.0, false),
        ] {
            add(&mut tally, logit, label);
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
        assert_eq!(metrics[Metric::MinPositive], Some(sigmoid(-1.0)));
        assert_eq!(metrics[Metric::MaxNegative], Some(sigmoid(1.0)));
        let by_hand = [2.0_f64, -1.0, -1.0, 3.0, 4.0].map(|z| (1.0 + (-z).exp()).ln());
        let loss = metrics[Metric::Loss].unwrap_or(f64::NAN);
        assert!((loss - by_hand.iter().sum::<f64>() / 5.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_measure_on_is_none() {
        assert_eq!(Tally::default().metrics(), None);
        let mut tally = Tally::default();
        add(&mut tally, -1.0, false);
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
    fn lines_are_read_back_bit_for_bit() {
        let mut tally = Tally::default();
        for index in 1..40_i32 {
            add(&mut tally, f64::from(index).sin() * 3.7, index % 3 == 0);
        }
        let mut train = tally.metrics().unwrap_or_else(|| unreachable!());
        train.0[Metric::Precision as usize] = None;
        train.0[Metric::AttentionPositive as usize] = Some(f64::from_bits(0x3fb9_9999_9999_999b));
        for held_out in [None, Some(train.clone())] {
            let line = StepMetrics {
                epoch: 2,
                step: 77,
                train_loss: held_out.is_some().then_some(1.0 / 3.0),
                train: train.clone(),
                held_out,
            };
            let text = serde_json::to_string(&line).unwrap_or_default();
            let read = serde_json::from_str(&text).ok();
            assert_eq!(read.as_ref().and_then(StepMetrics::read), Some(line));
        }
        assert_eq!(StepMetrics::read(&Value::Null), None);
    }

    #[test]
    fn extreme_logits_do_not_overflow() {
        assert!(binary_cross_entropy(1e4, true).abs() < 1e-300);
        assert_eq!(binary_cross_entropy(1e4, false), 1e4);
    }
}
