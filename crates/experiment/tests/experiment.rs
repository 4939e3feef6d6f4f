//! The experiment: each file is a topic, and all are one program, since what they share would be compiled for each.
//!
//! A new file needs its line here; `scripts/checks/layout.py` says so if it is missing.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

mod assessment;
mod changes;
mod config;
mod fresh;
mod keys;
mod metrics;
mod outcome;
mod page;
mod schedules;
mod shown;
mod test_sets;
mod training;
mod trips;
mod weights;
