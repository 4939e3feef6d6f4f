//! The values of metrics on a split.

use std::ops::Index;

use serde::{Deserialize, Serialize};

use super::table::{METRICS, Metric, MetricInfo};

/// The most classes that have metrics of their own: an evaluation of thousands of classes would take a megabyte.
pub const CLASS_METRICS_LIMIT: usize = 64;

/// The values of all metrics on a split; `None` for a metric that has no samples to measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvalMetrics {
    pub(super) values: [Option<f64>; METRICS.len()],
    /// The metrics of each class, if there are more than two, and at most [`CLASS_METRICS_LIMIT`].
    pub classes: Vec<ClassMetrics>,
    /// With more classes than that, the one that all samples are classified as, if it is one.
    pub one_class: Option<u32>,
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
    /// Attention of the readout position to the positions that decide the label, as for all samples.
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
    /// Whether F1, if it is a mean over classes, is over this one too: samples have it, or are classified as it. `None` if
    /// classes have no metrics of their own.
    pub(crate) fn counts_in_f1(&self, class: usize) -> Option<bool> {
        let class = self.classes.get(class)?;
        Some(class.samples > 0 || class.precision.is_some())
    }

    /// The class that all samples are classified as, if it is one, of three classes or more.
    pub(crate) fn only_predicted(&self) -> Option<u32> {
        let classes = self.classes.iter().enumerate();
        let mut predicted = classes.filter(|(_, class)| class.precision.is_some());
        match (predicted.next(), predicted.next()) {
            (Some((class, _)), None) => Some(class as u32),
            _ => self.one_class,
        }
    }

    /// All metrics with their values.
    pub fn entries(&self) -> impl Iterator<Item = (&'static MetricInfo, Option<f64>)> {
        METRICS.iter().zip(self.values)
    }
}
