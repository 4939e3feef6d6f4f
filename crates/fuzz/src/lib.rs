//! Readers of foreign input that are more than serde or TOML, each as a function of bytes, for the fuzzer and for the tests of
//! its inputs.
//!
//! `corpus/` has valid inputs of each reader, from which the fuzzer starts, and inputs that once did harm.
//! `scripts/checks/fuzz.sh` builds the readers with libFuzzer and runs it; `tests/corpus.rs` runs them on the corpus. To add a
//! reader, add a line to [`TARGETS`] and a folder to the corpus.

mod targets;

use targets::{archives, samples, sweeps, weights};

/// The most memory that the process of a target may use, in bytes.
pub const MEMORY_LIMIT: usize = 256_000_000;

/// A reader. It may return any error; it must not panic, or use more memory than [`MEMORY_LIMIT`].
pub type Read = fn(&[u8]);

/// All readers, each with the name of its folder in `corpus/`.
pub const TARGETS: [(&str, Read); 11] = [
    ("dataset-npz", samples::npz),
    ("dataset-csv", samples::csv),
    ("dataset-jsonl", samples::jsonl),
    ("npz", archives::whole),
    ("npy", archives::member),
    ("dump", archives::dump),
    ("dump-member", archives::dump_member),
    ("weights", weights::model),
    ("checkpoint", weights::checkpoint),
    ("sweep-results", sweeps::results),
    ("sweep-merge", sweeps::merge),
];
