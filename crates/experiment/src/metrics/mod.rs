//! Metrics of a classifier, and of the attention of `[CLS]` to the positions that decide the label.
//!
//! [`METRICS`] lists every metric once. All code that shows, writes or reads metrics iterates over it.

mod loss;
mod measure;
mod step;
mod table;
mod tally;
mod values;

pub use loss::{cross_entropy, predicted_class, probabilities};
pub use measure::Measure;
pub use step::StepMetrics;
pub use table::{METRICS, Metric, MetricInfo};
pub use tally::{Counts, Tally, f1};
pub use values::{ClassMetrics, EvalMetrics};
