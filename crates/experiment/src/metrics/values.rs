//! The values of metrics on a split.

use std::ops::Index;

use serde::{Deserialize, Serialize};

use super::table::{METRICS, Metric, MetricInfo};

/// The values of all metrics on a split; `None` for a metric that has no samples to measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvalMetrics {
    pub(super) values: [Option<f64>; METRICS.len()],
    /// The metrics of each class, if there are more than two.
    pub classes: Vec<ClassMetrics>,
    /// Share of samples whose every label that counts is predicted, if samples have a label per position; the other metrics are
    /// then over these labels.
    pub whole_samples: Option<f64>,
}

/// The metrics of a test set.
#[derive(Clone, Debug, PartialEq)]
pub struct TestMetrics {
    /// Its name in the config.
    pub name: String,
    /// All metrics but those by class.
    pub metrics: EvalMetrics,
}

/// The metrics of one class; `None` for a metric that has no samples to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassMetrics {
    /// Samples of the class.
    pub samples: usize,
    /// Share of samples of the class among those classified as it.
    pub precision: Option<f64>,
    /// Share of samples of the class that are classified as it.
    pub recall: Option<f64>,
    /// Harmonic mean of precision and recall.
    pub f1: Option<f64>,
    /// Attention of `[CLS]` to the positions that decide the label, as for all samples.
    pub attention: Option<f64>,
    /// The same for uniform attention.
    pub uniform: Option<f64>,
}

impl Index<Metric> for EvalMetrics {
    type Output = Option<f64>;

    fn index(&self, metric: Metric) -> &Option<f64> {
        &self.values[metric as usize]
    }
}

impl EvalMetrics {
    /// Whether F1, if it is a mean over classes, is over this one too: samples have it, or are classified as it.
    pub(crate) fn counts_in_f1(&self, class: usize) -> bool {
        let class = self.classes.get(class);
        class.is_some_and(|class| class.samples > 0 || class.precision.is_some())
    }

    /// All metrics with their values.
    pub fn entries(&self) -> impl Iterator<Item = (&'static MetricInfo, Option<f64>)> {
        METRICS.iter().zip(self.values)
    }
}
