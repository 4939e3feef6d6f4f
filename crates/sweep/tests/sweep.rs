//! Sweeps: each file is a topic, and all are one program, since what they share would be compiled for each.
//!
//! A new file needs its line here; `scripts/checks/layout.py` says so if it is missing.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

mod measures;
mod merge;
mod report;
mod shards;
mod trips;
mod workers;
