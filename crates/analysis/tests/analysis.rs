//! What is asked of a trained model: each file is a topic, and all are one program, since what they share would be compiled for each.
//!
//! A new file needs its line here; `scripts/checks/layout.py` says so if it is missing.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../experiment/tests/common/mod.rs"]
mod common;

mod certificate;
mod contexts;
mod explain;
mod interventions;
mod measures;
