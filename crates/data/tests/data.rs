//! Samples: each file is a topic, and all are one program, since what they share would be compiled for each.
//!
//! A new file needs its line here; `scripts/checks/layout.py` says so if it is missing.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

mod archives;
mod automata;
mod batches;
mod columns;
mod config;
mod corpora;
mod dropout;
mod files;
mod folds;
mod fresh;
mod generate;
mod model_samples;
mod noise;
mod numpy;
mod padding;
mod questions;
mod rules;
mod sentiment;
mod sequences;
mod test_sets;
mod texts;
mod token_labels;
mod trips;
mod weights;
