//! An experiment from its config to its metrics.
//!
//! An [`Experiment`] is a config with its samples and its initial weights. An [`Engine`] takes the training
//! steps, [`train`](train::train) is the loop that drives it, and [`evaluate`](evaluate::evaluate) measures
//! the result. Nothing here opens a file, depends on Burn, or writes to a terminal: the caller passes in the
//! samples, can pass in other engines, and observes the training.
//!
//! ```
//! use headlight_experiment::{Engine, Experiment, FusedEngine, config::toml, evaluate::evaluate};
//!
//! let text = r#"
//!     data = { samples = 200, vocab_size = 9, seq_len = 3, rule = { kind = "token-anywhere", token = 7 } }
//!     model = { d_model = 4 }
//!     training = { epochs = 1 }
//! "#;
//! let config = toml::parse("example", text, std::iter::empty(), |_| Ok(()), |_| Ok(()))?;
//! let splits = config.data.generate().map_err(|invalid| invalid.to_string())?;
//! let experiment = Experiment::new(config, splits.into(), None).map_err(|error| error.to_string())?;
//! let mut engine = FusedEngine::new(&experiment).map_err(|error| error.to_string())?;
//! for batch in experiment.batches(1).iter() {
//!     engine.step(&experiment.splits.train, batch, experiment.learning_rate(0));
//! }
//! assert!(evaluate(&mut engine, &experiment.splits.train, 2, None).is_some());
//! # Ok::<(), String>(())
//! ```

pub mod best;
pub mod config;
mod engine;
mod error;
pub mod evaluate;
mod experiment;
mod feed;
pub mod fused;
mod fused_architecture;
pub mod metrics;
pub mod outcome;
pub mod readout;
mod test_sets;
#[cfg(not(target_family = "wasm"))]
mod threads;
pub mod train;

pub use engine::{Engine, Predictions, Predictor, TrainingState};
pub use error::Error;
pub use experiment::{Experiment, samples_per_pass};
pub use fused::FusedEngine;
pub use fused_architecture::{architecture, shares_steps, threads_that_pay};
pub use test_sets::test_metrics;

/// Compiles and runs the program of the document.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/crates.md")]
struct CratesDocument;
