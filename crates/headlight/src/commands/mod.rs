//! The commands, a file each.

pub mod compare;
pub mod data;
pub mod devices;
pub mod dump;
pub mod inspect;
pub mod merge;
pub mod predict;
pub mod report;
pub mod sweep;
pub mod train;
pub mod walkthrough;
mod watch;
