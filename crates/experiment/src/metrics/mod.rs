//! Metrics of a classifier, and of the attention of the readout position to the positions that decide the label.
//!
//! [`METRICS`] lists every metric of training once. All code that shows, writes or reads metrics iterates over it.
//! An [`Assessment`] is what `headlight evaluate` shows of a trained model.

mod assessment;
mod calibration;
mod confusion;
mod criterion;
mod interval;
mod loss;
mod ranking;
mod step;
mod table;
mod tally;
mod values;

pub use assessment::{Assessment, ClassAssessment, LabelledPredictions, Ratios, Threshold};
pub use calibration::{Calibration, CalibrationBin};
pub use confusion::{Confusion, Counts, f1};
pub(crate) use confusion::{count_sample, f1_over};
pub use criterion::Criterion;
pub use interval::wilson;
pub use loss::{cross_entropy, predicted_class, probabilities, rounded_probabilities};
pub use ranking::RankingMetrics;
pub use step::{ByName, StepMetrics};
pub use table::{COMPARED, Column, METRICS, Metric, MetricInfo, MetricKind, PAGE, TERMINAL};
pub use tally::Tally;
pub use values::{CLASS_METRICS_LIMIT, ClassMetrics, EvalMetrics, TestMetrics};
