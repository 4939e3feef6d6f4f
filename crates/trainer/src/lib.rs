//! Training on this machine: devices, engines, run directories and their files.
//!
//! A [`Session`](session::Session) is an experiment with its device opened and its files read. A
//! [`RunDir`](run_dir::RunDir) holds all of a run; a [`Training`](training::Training) fills it. Readers of a
//! run use the run directory alone.

pub mod assessment;
pub mod built_in;
#[cfg(feature = "burn")]
pub mod burn;
pub mod checkpoint;
pub mod config;
pub mod dataset_file;
pub mod devices;
pub mod dump_volume;
pub mod dumping;
pub mod environment;
mod evidence;
mod failure;
pub mod files;
pub mod hash;
mod manifest;
pub mod opening;
pub mod outputs;
pub mod page;
pub mod printing;
pub mod reference;
pub mod report;
pub mod resume;
pub mod run_dir;
pub mod run_writer;
pub mod samples;
pub mod session;
pub mod signals;
pub mod standard;
mod tokenizer;
pub mod training;
pub mod weights;

pub use failure::Failure;
