//! The config of an experiment: data, model, training, what to record, and where to compute.

mod adaptable;
mod class_weights;
mod comments;
mod compute;
mod dropout;
mod experiment;
mod measure_name;
mod recording;
mod schedule;
mod size;
pub mod toml;
mod training;

pub use adaptable::Adaptable;
pub use class_weights::ClassWeights;
pub use comments::with_comments;
pub use compute::{ComputeConfig, EngineName};
pub use dropout::{DropoutConfig, DropoutPreset};
pub use experiment::ExperimentConfig;
pub use measure_name::MeasureName;
pub use recording::{CheckpointConfig, DumpConfig, DumpFormat, LEARNED, ReportConfig};
pub(crate) use size::ATTENTION_LIMIT;
pub use training::{CrossEntropyKind, OptimizerName, Schedule, TokenSecondMoment, TrainingConfig};
