//! Training on this machine, in folders, each of which uses only those before it: [`messages`], [`files`], [`run`] directories,
//! [`burn`], the engine of the reference, [`session`], [`show`], the documents of a run, and [`training`].
//!
//! A [`Session`] is an experiment with its device opened and its files read. A [`RunDir`] holds all of a run; a
//! [`Training`](training::Training) fills it. Readers of a run use the run directory alone.

#[cfg(feature = "burn")]
pub mod burn;
pub mod devices;
pub mod files;
pub mod messages;
pub mod run;
pub mod session;
pub mod show;
pub mod training;

pub use files::dataset_file::DatasetFiles;
pub use files::outputs::{Destination, Output};
pub use messages::face::option;
pub use messages::failure::{Failure, shortened};
pub use messages::notes::note;
pub use messages::paths::{STANDARD, shell_path, shell_word, shown};
pub use run::RunDir;
pub use session::Session;
pub use training::signals::Signals;
