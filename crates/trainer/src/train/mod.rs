//! Training: experiments opened with their files and devices, and what a run directory gets of them.

pub mod dataset;
pub(crate) mod doubts;
pub mod dump_volume;
pub mod dumping;
pub mod opening;
pub mod resume;
pub mod run_writer;
pub mod session;
pub mod signals;
mod start;
pub mod test_sets;
