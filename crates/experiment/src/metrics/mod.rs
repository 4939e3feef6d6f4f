//! Metrics of a classifier, and of the attention of `[CLS]` to the positions that decide the label.
//!
//! [`METRICS`] lists every metric of training once. All code that shows, writes or reads metrics iterates over it.
//! An [`Assessment`] is what `headlight evaluate` shows of a trained model.

mod assessment;
mod calibration;
mod confusion;
mod loss;
mod measure;
mod ranking;
mod step;
mod table;
mod tally;
mod values;

pub use assessment::{Assessment, Class, Outcomes, Ratios, Threshold};
pub use calibration::{Bin, Calibration};
pub use confusion::{Confusion, Counts, f1};
pub use loss::{cross_entropy, predicted_class, probabilities, rounded_probabilities};
pub use measure::Measure;
pub use ranking::Ranking;
pub use step::StepMetrics;
pub use table::{COMPARED, Column, METRICS, Metric, MetricInfo, PAGE, TERMINAL};
pub use tally::Tally;
pub use values::{ClassMetrics, EvalMetrics};

/// A model has learned its task if its F1 on [the judged samples](headlight_data::Splits::judged) is this or more.
pub const LEARNED: f64 = 0.99;
