//! Files: how they are opened, written and named; configs, datasets, weights; what a command may write.

pub mod access;
pub mod built_in;
pub mod config;
pub mod data_file;
pub mod dataset_file;
pub mod hash;
pub mod outputs;
pub mod run_files;
pub mod samples;
pub(crate) mod temporary;
pub mod weights;
