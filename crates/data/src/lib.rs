//! Datasets for the `[CLS]` experiments: label rules, generators, batches and files.
//!
//! A [`DatasetConfig`] says what to make; [`DatasetConfig::splits`] makes it. Every random number
//! of Headlight comes from a [`Stream`] of this crate, on the host, so that a seed means the same
//! on every device. There is no Burn here.
//!
//! ```
//! use headlight_data::{DatasetConfig, Generator, LabelRule};
//!
//! let config = DatasetConfig {
//!     seed: 0,
//!     source: headlight_data::Source::Generated {
//!         generator: Generator::Numpy,
//!         samples: 8_000,
//!         positive_rate: None,
//!     },
//!     vocab_size: 51,
//!     seq_len: 6,
//!     cls: headlight_data::ClsPlace::First,
//!     held_out: 0,
//!     rule: Some(LabelRule::TokenAtPosition { token: 42, position: 3 }),
//! };
//! let notebook = config.splits()?.train;
//! assert_eq!(notebook.tokens(0), [0, 45, 48, 1, 4, 4, 40]);
//! assert_eq!(notebook.positives().count(), 168);
//! # Ok::<(), headlight_data::DataError>(())
//! ```

mod batch;
mod config;
mod dataset;
pub mod files;
mod generate;
mod random;
mod rule;

pub use batch::{Batch, Batches};
pub use config::{ClsPlace, DatasetConfig, Generator, InvalidValue, Source};
pub use dataset::{Dataset, Splits};
pub use random::{Stream, uniform_below};
pub use rule::LabelRule;

/// The token that stands before or after the others of every sample, and that the label is read from.
pub const CLS: u32 = 0;

/// Why a dataset cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// A value of the config cannot be used.
    #[error(transparent)]
    Config(#[from] InvalidValue),
    /// A dataset file cannot be used.
    #[error(transparent)]
    File(#[from] files::FileError),
}
