//! The rows of `metrics.jsonl`.

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::criterion::Criterion;
use super::table::{HELD_OUT, METRICS, Metric, MetricInfo};
use super::values::{ClassMetrics, EvalMetrics, TestMetrics};

/// The key of the metrics by class.
const CLASSES: &str = "classes";

/// The key of the class that all samples are classified as, of more classes than have metrics.
const ONE_CLASS: &str = "one_class";

/// The key of the share of samples whose every label is predicted.
pub(super) const WHOLE_SAMPLES: &str = "sample_accuracy";

/// The key of the metrics of test sets.
const TESTS: &str = "tests";

/// The keys of the norms of weights and gradient.
const NORMS: [&str; 2] = ["weight_norm", "gradient_norm"];

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
    /// On the test sets that were evaluated.
    pub tests: Vec<TestMetrics>,
    /// The norm of all weights together, if the config asks for norms.
    pub weight_norm: Option<f64>,
    /// The norm of the last step's gradient, before it was scaled down, if the config asks for norms.
    pub gradient_norm: Option<f64>,
}

impl StepMetrics {
    /// Reads a row back with exactly the same numbers; `None` for any other JSON.
    pub fn read(line: &Value) -> Option<Self> {
        let count = |name: &str| usize::try_from(line.get(name)?.as_u64()?).ok();
        Some(Self {
            epoch: count("epoch")?,
            step: count("step")?,
            train_loss: line.get("train_loss")?.as_f64(),
            train: read(line, "")?,
            held_out: read(line, HELD_OUT),
            tests: read_tests(line.get(TESTS))?,
            weight_norm: line.get(NORMS[0]).and_then(Value::as_f64),
            gradient_norm: line.get(NORMS[1]).and_then(Value::as_f64),
        })
    }

    /// The value by which a criterion judges the model; `None` if the split has none.
    pub fn judged_by(&self, Criterion { metric, held_out }: Criterion) -> Option<f64> {
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
        let of_splits = [("", Some(&self.train)), (HELD_OUT, self.held_out.as_ref())];
        for (prefix, metrics) in of_splits {
            if let Some(metrics) = metrics.filter(|metrics| !metrics.classes.is_empty()) {
                map.serialize_entry(&format!("{prefix}{CLASSES}"), &metrics.classes)?;
            }
            if let Some(class) = metrics.and_then(|metrics| metrics.one_class) {
                map.serialize_entry(&format!("{prefix}{ONE_CLASS}"), &class)?;
            }
            if let Some(share) = metrics.and_then(|metrics| metrics.whole_samples) {
                map.serialize_entry(&format!("{prefix}{WHOLE_SAMPLES}"), &share)?;
            }
        }
        if !self.tests.is_empty() {
            map.serialize_entry(TESTS, &ByName(&self.tests))?;
        }
        for (name, norm) in NORMS.iter().zip([self.weight_norm, self.gradient_norm]) {
            if norm.is_some() {
                map.serialize_entry(name, &norm)?;
            }
        }
        map.end()
    }
}

/// The metrics of test sets by their names, as `metrics.jsonl` and the rows of a sweep hold them.
#[derive(Clone, Copy, Debug)]
pub struct ByName<'a>(pub &'a [TestMetrics]);

impl Serialize for ByName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|test| (&test.name, &test.metrics)))
    }
}

/// The metrics of one test set.
impl Serialize for EvalMetrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let share = self.whole_samples.map(|share| (WHOLE_SAMPLES, Some(share)));
        let entries = self.entries().map(|(info, value)| (info.name, value));
        serializer.collect_map(entries.chain(share))
    }
}

fn read_tests(tests: Option<&Value>) -> Option<Vec<TestMetrics>> {
    let Some(tests) = tests else {
        return Some(Vec::new());
    };
    let test = |(name, metrics): (&String, &Value)| {
        Some(TestMetrics {
            name: name.clone(),
            metrics: read(metrics, "")?,
        })
    };
    tests.as_object()?.iter().map(test).collect()
}

/// The metrics of a line whose keys start with `prefix`; `None` if loss or accuracy is missing.
fn read(line: &Value, prefix: &str) -> Option<EvalMetrics> {
    let value = |info: MetricInfo| line.get(format!("{prefix}{}", info.name))?.as_f64();
    let classes = line.get(format!("{prefix}{CLASSES}"));
    let classes = classes.map_or(Some(Vec::new()), |classes| {
        Vec::<ClassMetrics>::deserialize(classes).ok()
    });
    let one_class = line.get(format!("{prefix}{ONE_CLASS}"));
    let metrics = EvalMetrics {
        values: METRICS.map(value),
        classes: classes?,
        one_class: one_class.and_then(|class| u32::try_from(class.as_u64()?).ok()),
        whole_samples: line
            .get(format!("{prefix}{WHOLE_SAMPLES}"))
            .and_then(Value::as_f64),
    };
    metrics[Metric::Loss].and(metrics[Metric::Accuracy])?;
    Some(metrics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Tally, cross_entropy, probabilities};

    #[test]
    fn lines_are_read_back_bit_for_bit() {
        let mut tally = Tally::new(4);
        for index in 1..40_i32 {
            let logits = [1, 2, 3, 4].map(|class| f64::from(index * class).sin() * 3.7);
            let label = (index % 3) as u32;
            let loss = cross_entropy(&logits, label);
            tally.add(&logits, &probabilities(&logits), loss, label);
        }
        let mut train = tally.metrics().unwrap_or_else(|| unreachable!());
        train.values[Metric::Precision as usize] = None;
        train.values[Metric::AttentionPositive as usize] =
            Some(f64::from_bits(0x3fb9_9999_9999_999b));
        for held_out in [None, Some(train.clone())] {
            let tests = held_out.iter().map(|metrics: &EvalMetrics| TestMetrics {
                name: "longer".to_owned(),
                metrics: EvalMetrics {
                    classes: Vec::new(),
                    ..metrics.clone()
                },
            });
            let line = StepMetrics {
                tests: tests.collect(),
                epoch: 2,
                step: 77,
                train_loss: held_out.is_some().then_some(1.0 / 3.0),
                train: train.clone(),
                weight_norm: held_out.as_ref().map(|_| 1.0 / 7.0),
                gradient_norm: None,
                held_out,
            };
            let text = serde_json::to_string(&line).unwrap_or_default();
            let read = serde_json::from_str(&text).ok();
            assert_eq!(read.as_ref().and_then(StepMetrics::read), Some(line));
        }
        assert_eq!(StepMetrics::read(&Value::Null), None);
    }
}
