//! The config of an experiment: data, model, training, what to record, and where to compute.

mod compute;
mod experiment;
mod recording;
#[cfg(feature = "toml")]
pub mod toml;
mod training;

pub use compute::{ComputeConfig, EngineName};
pub use experiment::ExperimentConfig;
pub use recording::{CheckpointConfig, DumpConfig, DumpFormat};
pub use training::{TokenSecondMoment, TrainingConfig};
