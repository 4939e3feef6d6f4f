//! Trains tiny transformer classifiers and shows where their attention looks.
//!
//! The pipeline runs one way: a [`config`] gives an [`experiment`] (dataset, model, device),
//! [`train`] trains it, a [`run_dir`] holds what came of it, and inspection reads only that.
//! `main.rs` names the commands; each has a file under `commands`.

mod best;
pub mod browser;
pub mod checkpoint;
pub mod cli;
pub mod commands;
pub mod config;
pub mod devices;
pub mod engine;
pub mod environment;
pub mod evaluate;
pub mod experiment;
mod failure;
pub mod files;
mod hash;
pub mod metrics;
pub mod optimizer;
pub mod record;
mod recorder;
pub mod reference;
pub mod report;
mod resume;
pub mod run_dir;
pub mod run_page;
pub mod signals;
pub mod sweep;
mod terminal;
pub mod train;
pub mod weights;

pub use failure::Failure;
