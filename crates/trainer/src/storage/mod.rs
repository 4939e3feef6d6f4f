//! Files: run directories and all that they hold, configs, datasets, outputs.

pub mod built_in;
pub mod checkpoint;
pub mod config;
pub mod data_file;
pub mod dataset_copy;
pub mod dataset_file;
pub mod environment;
pub mod files;
pub mod hash;
pub mod inputs;
mod manifest;
pub mod memory;
pub mod outputs;
pub mod paths;
pub mod run_dir;
pub mod samples;
pub mod standard;
mod tokenizer;
mod told;
pub mod weights;
