//! The binary from outside, and each file here a topic: one program, since forty would take two minutes to link.
//!
//! A new file needs its line here; `scripts/checks/layout.py` says so if it is missing.
#![allow(missing_docs)]

mod common;

mod any_experiment;
mod anywhere;
mod attention;
mod bad_input;
mod best;
mod certify;
mod classes;
mod commands;
mod data_files;
mod devices;
mod dump_volume;
mod embed;
mod engines;
mod environment;
mod evaluate;
mod explain;
mod folds;
mod fresh;
mod hostile_files;
mod inspect;
mod interventions;
mod keys;
mod lab;
mod measures;
mod model_keys;
mod new_user;
mod one_text;
mod outputs;
mod own_data;
mod own_data_refused;
mod positions;
mod predict;
mod report;
mod reproduce;
mod resume;
mod round_trips;
mod save_weights;
mod screen;
mod scripts;
mod snapshots;
mod start;
mod stopping;
mod sweep;
mod sweep_files;
mod sweep_looks;
mod test_sets;
mod train;
mod verify;
mod walkthrough;
mod without_cls;
mod words;
