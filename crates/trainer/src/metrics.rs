//! How good a classifier is, and how much `[CLS]` looks at what decides the label.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::config::Measure;

/// Measurements over a whole split. What has nothing to be measured on is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalMetrics {
    /// Mean binary cross-entropy, in nats.
    pub loss: f64,
    /// Share of samples that are classified correctly.
    pub accuracy: f64,
    /// Share of true positives among samples called positive.
    pub precision: Option<f64>,
    /// Share of positive samples that are called positive.
    pub recall: Option<f64>,
    /// Harmonic mean of precision and recall.
    pub f1: Option<f64>,
    /// Smallest probability of a positive sample.
    pub min_positive: Option<f64>,
    /// Largest probability of a negative sample.
    pub max_negative: Option<f64>,
    /// Attention from `[CLS]` to the label's positions in the last block, summed over these,
    /// averaged over heads and positive samples.
    pub attention_positive: Option<f64>,
    /// The same over negative samples.
    pub attention_negative: Option<f64>,
    /// What `attention_positive` would be if attention were uniform.
    pub uniform_positive: Option<f64>,
    /// What `attention_negative` would be if attention were uniform.
    pub uniform_negative: Option<f64>,
}

impl EvalMetrics {
    /// Names and values, in the order of reports.
    pub fn entries(&self) -> [(&'static str, Option<f64>); 11] {
        [
            ("loss", Some(self.loss)),
            ("accuracy", Some(self.accuracy)),
            ("precision", self.precision),
            ("recall", self.recall),
            ("f1", self.f1),
            ("min_positive", self.min_positive),
            ("max_negative", self.max_negative),
            ("attention_positive", self.attention_positive),
            ("attention_negative", self.attention_negative),
            ("uniform_positive", self.uniform_positive),
            ("uniform_negative", self.uniform_negative),
        ]
    }
}

impl EvalMetrics {
    /// What [`entries`](Self::entries) were written from, their names beginning with `prefix`.
    fn read(line: &Value, prefix: &str) -> Option<Self> {
        let value = |name: &str| line.get(format!("{prefix}{name}"))?.as_f64();
        Some(Self {
            loss: value("loss")?,
            accuracy: value("accuracy")?,
            precision: value("precision"),
            recall: value("recall"),
            f1: value("f1"),
            min_positive: value("min_positive"),
            max_negative: value("max_negative"),
            attention_positive: value("attention_positive"),
            attention_negative: value("attention_negative"),
            uniform_positive: value("uniform_positive"),
            uniform_negative: value("uniform_negative"),
        })
    }
}

/// A line of `metrics.jsonl`: where training stands, and how good the model is there.
#[derive(Clone, Debug, PartialEq)]
pub struct StepMetrics {
    /// Epochs finished, or under way.
    pub epoch: usize,
    /// Steps taken.
    pub step: usize,
    /// Mean of the batches' losses since the epoch began, as Keras reports it; `None` before the
    /// first step.
    pub train_loss: Option<f64>,
    /// Over the training samples, with the weights of this moment.
    pub train: EvalMetrics,
    /// Over the held-out samples, where there are any.
    pub held_out: Option<EvalMetrics>,
}

impl StepMetrics {
    /// Reads a line back, number for number; `None` where it is no such line.
    pub fn read(line: &Value) -> Option<Self> {
        let count = |name: &str| usize::try_from(line.get(name)?.as_u64()?).ok();
        Some(Self {
            epoch: count("epoch")?,
            step: count("step")?,
            train_loss: line.get("train_loss")?.as_f64(),
            train: EvalMetrics::read(line, "")?,
            held_out: EvalMetrics::read(line, "held_out_"),
        })
    }

    /// A measurement, where it was measured.
    pub fn measure(&self, measure: Measure) -> Option<f64> {
        let of = if measure.is_held_out() {
            self.held_out.as_ref()?
        } else {
            &self.train
        };
        match measure {
            Measure::Loss | Measure::HeldOutLoss => Some(of.loss),
            Measure::Accuracy | Measure::HeldOutAccuracy => Some(of.accuracy),
            Measure::F1 | Measure::HeldOutF1 => of.f1,
        }
    }
}

impl Serialize for StepMetrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("epoch", &self.epoch)?;
        map.serialize_entry("step", &self.step)?;
        map.serialize_entry("train_loss", &self.train_loss)?;
        for (name, value) in self.train.entries() {
            map.serialize_entry(name, &value)?;
        }
        if let Some(held_out) = &self.held_out {
            for (name, value) in held_out.entries() {
                map.serialize_entry(&format!("held_out_{name}"), &value)?;
            }
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

/// Attention on the label's positions, and what it would be if uniform, summed over samples.
#[derive(Clone, Copy, Debug, Default)]
struct Attention {
    samples: usize,
    paid: f64,
    uniform: f64,
}

impl Tally {
    /// Adds a sample: its log-odds, the probability and the loss that follow from them, and its label.
    pub fn add(&mut self, logit: f64, probability: f64, loss: f64, label: bool) {
        self.samples += 1;
        self.loss += loss;
        let called = logit > 0.0;
        match (label, called) {
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

    /// Adds a sample's attention to the positions that decide its label: what it is, and what it
    /// would be if uniform.
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

    /// The measurements over all samples so far; `None` where there were none.
    pub fn metrics(&self) -> Option<EvalMetrics> {
        let ratio = |part: usize, whole: usize| (whole > 0).then(|| part as f64 / whole as f64);
        let wrong = self.false_positives + self.false_negatives;
        let true_positives = self.true_positives;
        Some(EvalMetrics {
            loss: (self.samples > 0).then(|| self.loss / self.samples as f64)?,
            accuracy: ratio(self.samples - wrong, self.samples)?,
            precision: ratio(true_positives, true_positives + self.false_positives),
            recall: ratio(true_positives, true_positives + self.false_negatives),
            f1: ratio(2 * true_positives, 2 * true_positives + wrong),
            min_positive: self.min_positive,
            max_negative: self.max_negative,
            attention_positive: self.positive.mean(self.positive.paid),
            attention_negative: self.negative.mean(self.negative.paid),
            uniform_positive: self.positive.mean(self.positive.uniform),
            uniform_negative: self.negative.mean(self.negative.uniform),
        })
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
        assert_eq!(metrics.accuracy, 0.6);
        assert_eq!(
            (metrics.precision, metrics.recall, metrics.f1),
            (Some(0.5), Some(0.5), Some(0.5))
        );
        assert_eq!(metrics.min_positive, Some(sigmoid(-1.0)));
        assert_eq!(metrics.max_negative, Some(sigmoid(1.0)));
        let by_hand = [2.0_f64, -1.0, -1.0, 3.0, 4.0].map(|z| (1.0 + (-z).exp()).ln());
        assert!((metrics.loss - by_hand.iter().sum::<f64>() / 5.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_measure_on_is_none() {
        assert_eq!(Tally::default().metrics(), None);
        let mut tally = Tally::default();
        add(&mut tally, -1.0, false);
        let metrics = tally.metrics().unwrap_or_else(|| unreachable!());
        assert_eq!(
            (metrics.precision, metrics.recall, metrics.f1),
            (None, None, None)
        );
        assert_eq!(metrics.attention_positive, None);
    }

    #[test]
    fn lines_are_read_back_bit_for_bit() {
        let mut tally = Tally::default();
        for index in 1..40_i32 {
            add(&mut tally, f64::from(index).sin() * 3.7, index % 3 == 0);
        }
        let mut train = tally.metrics().unwrap_or_else(|| unreachable!());
        train.precision = None;
        train.attention_positive = Some(f64::from_bits(0x3fb9_9999_9999_999b));
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
