//! Every reader of foreign input as a function of bytes, for a fuzzer and for the cases that it found.
//!
//! `scripts/checks/fuzz.sh` builds libFuzzer around them and runs it; `tests/corpus.rs` repeats the inputs that
//! are kept in `corpus/`. A reader is added by adding a line to [`TARGETS`].

mod targets;

use targets::{archives, config, runs, samples, weights};

/// A reader, and inputs to begin with.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name, and that of its folder in `corpus/`.
    pub name: &'static str,
    /// Reads bytes. Any error will do; panics, and memory beyond [`MEMORY_LIMIT`], will not.
    pub read: fn(&[u8]),
    /// Inputs that are right, or nearly so.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// The most memory that the process of a target may hold, in bytes.
pub const MEMORY_LIMIT: usize = 256_000_000;

macro_rules! target {
    ($name:literal, $($path:ident)::+) => {
        Target { name: $name, read: $($path)::+::read, seeds: $($path)::+::seeds }
    };
}

/// All readers.
pub const TARGETS: &[Target] = &[
    target!("config", config::file),
    target!("config-set", config::set),
    target!("config-grid", config::grid),
    target!("walkthrough", config::walkthrough),
    target!("dataset-npz", samples::npz),
    target!("dataset-csv", samples::csv),
    target!("dataset-jsonl", samples::jsonl),
    target!("tokens", samples::tokens),
    target!("npz", archives::whole),
    target!("npy", archives::member),
    target!("dump", archives::dump),
    target!("dump-member", archives::dump_member),
    target!("weights", weights::model),
    target!("reference", weights::reference),
    target!("checkpoint", weights::checkpoint),
    target!("run-metrics", runs::metrics),
    target!("run-environment", runs::environment),
    target!("run-reference", runs::reference),
    target!("sweep-results", runs::results),
    target!("sweep-merge", runs::merge),
    target!("sweep-report", runs::report),
];

/// The target of a name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().copied().find(|target| target.name == name)
}
