//! Training on this machine, in folders, each of which uses only those before it: [`files`], [`run`] directories, [`burn`], the engine
//! of the reference, [`train`], and [`show`], the documents of a run.
//!
//! A [`Session`] is an experiment with its device opened and its files read. A [`RunDir`] holds all of a run; a
//! [`Training`](training::Training) fills it. Readers of a run use the run directory alone.

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

pub use face::option;
pub use failure::{Failure, brief};
pub use files::dataset_file::DatasetFiles;
pub use files::outputs::{Destination, Output};
pub use notes::note;
pub use run::RunDir;
pub use standard::{STANDARD, quoted, shell_word, shown};
pub use train::session::Session;
pub use train::signals::Signals;
