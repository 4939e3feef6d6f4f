//! Files: run directories and all that they hold, configs, datasets, outputs.

pub mod built_in;
pub mod checkpoint;
pub mod config;
pub mod data_file;
pub mod dataset_file;
pub mod environment;
pub mod files;
pub mod hash;
pub mod outputs;
pub mod run_dir;
pub mod samples;
pub mod standard;
mod tokenizer;
pub mod weights;
