//! The config of an experiment: data, model, training, what to record, and where to compute.

mod compute;
mod recording;
#[cfg(feature = "toml")]
pub mod toml;
mod training;
mod whole;

pub use compute::{ComputeConfig, EngineName};
pub use recording::{CheckpointConfig, DumpConfig, DumpFormat};
pub use training::{TokenSecondMoment, TrainingConfig};
pub use whole::ExperimentConfig;
