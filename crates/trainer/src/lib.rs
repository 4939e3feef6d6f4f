//! Training on this machine, in three folders, each of which uses only those before it: [`storage`] reads and writes
//! files, [`sessions`] open devices and train, [`documents`] show a run.
//!
//! A [`Session`](sessions::session::Session) is an experiment with its device opened and its files read. A
//! [`RunDir`](storage::run_dir::RunDir) holds all of a run; a [`Training`](training::Training) fills it. Readers of a
//! run use the run directory alone.

pub mod devices;
pub mod documents;
pub mod face;
mod failure;
pub mod notes;
pub mod sessions;
pub mod storage;
pub mod training;

pub use failure::{Failure, brief};
