//! Datasets for the `[CLS]` experiments: label rules, generators, batches and files.
//!
//! A [`DatasetConfig`] says what to make; [`DatasetConfig::generate`] makes it. Every random number
//! of Headlight comes from a [`Stream`] of this crate, on the host, so that a seed means the same
//! on every device. This crate does not use Burn.
//!
//! [`files`] reads and writes datasets as npz, CSV and JSONL, and takes samples that are in no file. The caller opens the
//! files.
//!
//! ```
//! use headlight_data::rules::TokenAtPosition;
//! use headlight_data::{DatasetConfig, Generated, Generator, Source};
//!
//! let config = DatasetConfig {
//!     task: headlight_data::Task::Classification,
//!     seed: 0,
//!     source: Source::Generated(Generated::new(Generator::Numpy, 8_000)),
//!     columns: headlight_data::Columns::default(),
//!     words: None,
//!     vocab_size: 51,
//!     seq_len: 6,
//!     n_classes: 2,
//!     classes: Vec::new(),
//!     cls: headlight_data::ClsPlace::First,
//!     held_out: 0,
//!     fold: None,
//!     label_noise: 0.0,
//!     rule: Some(TokenAtPosition { token: 42, position: 3 }.into()),
//! };
//! let notebook = config.generate()?.train;
//! assert_eq!(notebook.tokens(0), [0, 45, 48, 1, 4, 4, 40]);
//! assert_eq!(notebook.positives().count(), 168);
//! # Ok::<(), headlight_schema::InvalidValue>(())
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
pub mod rules;
mod sampler;
mod shape;
mod task;
mod test_set;
mod validate;
pub mod words;

pub use amounts::{SampleCount, part};
pub use batch::{Batch, Batches};
pub use cls::{CLS, ClsPlace};
pub use config::{ColumnNames, DatasetConfig, DrawConfig, Source};
pub use corpora::{Corpus, MARKER, Reading};
pub use dataset::{Dataset, Parts, Splits, TextCounts};
pub use dropout::TokenDropout;
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
