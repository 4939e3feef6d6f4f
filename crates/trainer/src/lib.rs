//! Training on this machine, in folders, each of which uses only those before it: [`files`], [`run`] directories, [`burn`], the engine
//! of the reference, [`train`], and [`show`], the documents of a run.
//!
//! A [`Session`](train::session::Session) is an experiment with its device opened and its files read. A
//! [`RunDir`](run::RunDir) holds all of a run; a [`Training`](training::Training) fills it. Readers of a run use the run directory
//! alone.

#[cfg(feature = "burn")]
pub mod burn;
mod conclusion;
pub mod devices;
pub mod face;
mod failure;
pub mod files;
pub mod notes;
pub mod run;
pub mod show;
pub mod standard;
pub mod train;
pub mod training;

pub use failure::{Failure, brief};
