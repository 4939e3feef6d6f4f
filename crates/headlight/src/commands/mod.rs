//! The commands, one per file.

pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod data;
pub(crate) mod devices;
pub(crate) mod dump;
pub(crate) mod embed;
pub(crate) mod evaluate;
pub(crate) mod init;
pub(crate) mod inspect;
pub(crate) mod lab;
pub(crate) mod man;
pub(crate) mod merge;
mod model;
pub(crate) mod predict;
mod predictions;
pub(crate) mod report;
mod seeds;
pub(crate) mod sweep;
pub(crate) mod train;
pub(crate) mod verify;
#[cfg(feature = "burn")]
pub(crate) mod walkthrough;
#[cfg(not(feature = "burn"))]
#[path = "without_walkthrough.rs"]
pub(crate) mod walkthrough;
mod watch;
