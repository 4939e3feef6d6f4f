//! Datasets for the `[CLS]` experiments: label rules, generators, batches and files.
//!
//! A [`DatasetConfig`] says what to make; [`DatasetConfig::generate`] makes it. Every random number
//! of Headlight comes from a [`Stream`] of this crate, except for those of the generator `numpy`. All are drawn on the host, so that a
//! seed means the same on every device. This crate does not use Burn.
//!
//! [`files`] reads and writes datasets as npz, CSV and JSONL, and takes samples that are in no file. The caller opens the
//! files.
//!
//! ```
//! use headlight_data::DatasetConfig;
//!
//! let config: DatasetConfig = serde_json::from_str(
//!     r#"{ "seed": 0, "generator": "numpy", "samples": 8000, "vocab_size": 51, "seq_len": 6,
//!          "rule": { "kind": "token-at-position", "token": 42, "position": 3 } }"#,
//! )?;
//! let notebook = config.generate()?.train;
//! assert_eq!(notebook.tokens(0), [0, 45, 48, 1, 4, 4, 40]);
//! assert_eq!(notebook.positives().count(), 168);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod amounts;
mod batch;
mod cls;
mod config;
mod corpora;
mod dataset;
mod draws;
mod dropout;
pub mod files;
mod fold;
mod fresh;
mod generate;
mod generator;
mod noise;
mod order;
mod random;
mod repetitions;
pub mod rules;
mod sampler;
mod shape;
mod task;
mod test_set;
mod validate;
pub mod words;

pub use amounts::{SampleCount, share_of};
pub use batch::{Batch, Batches};
pub use cls::{CLS, ClsPlace};
pub use config::{ColumnNames, DatasetConfig, DrawConfig, Source, WEIGHT};
pub use corpora::{Corpus, CorpusFacts, MARKER, SentenceAnswer};
pub use dataset::{Dataset, Splits, TextCounts, TextUnit};
pub use dropout::{TokenDropout, dropout_numbers};
pub use fold::Fold;
pub use fresh::FreshSamples;
pub use generator::Generator;
pub use order::order;
pub use random::{Stream, uniform_below, uniform_unit};
pub use rules::LabelRule;
pub use sampler::Sampler;
pub use shape::SampleShape;
pub use task::{IGNORED, Task};
pub use test_set::TestSet;
pub use words::Words;
