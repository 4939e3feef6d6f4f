//! Readers of foreign input that are more than serde or TOML, each as a function of bytes, for the fuzzer and for the tests of inputs that it found.
//!
//! `scripts/checks/fuzz.sh` builds them with libFuzzer and runs it. `tests/corpus.rs` runs them on the inputs in
//! `corpus/`. To add a reader, add a line to [`TARGETS`].

mod targets;

use targets::{archives, samples, sweeps, weights};

/// A reader, and its seed inputs.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of the target and of its folder in `corpus/`.
    pub name: &'static str,
    /// Reads bytes. It may return any error; it must not panic, or use more memory than [`MEMORY_LIMIT`].
    pub read: fn(&[u8]),
    /// Valid or nearly valid inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// The most memory that the process of a target may use, in bytes.
pub const MEMORY_LIMIT: usize = 256_000_000;

macro_rules! target {
    ($name:literal, $($path:ident)::+) => {
        Target { name: $name, read: $($path)::+::read, seeds: $($path)::+::seeds }
    };
}

/// All targets.
pub const TARGETS: &[Target] = &[
    target!("dataset-npz", samples::npz),
    target!("dataset-csv", samples::csv),
    target!("dataset-jsonl", samples::jsonl),
    target!("npz", archives::whole),
    target!("npy", archives::member),
    target!("dump", archives::dump),
    target!("dump-member", archives::dump_member),
    target!("weights", weights::model),
    target!("checkpoint", weights::checkpoint),
    target!("sweep-results", sweeps::results),
    target!("sweep-merge", sweeps::merge),
];

/// Finds a target by name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().copied().find(|target| target.name == name)
}
