//! What a sweep writes and Headlight reads back, refused before training where its reader would refuse it.

use headlight_experiment::config::ExperimentConfig;
use headlight_input::{TEXT_LIMIT, size};
use headlight_trainer::Failure;

/// The longest row, in bytes; enough for 167,000 epochs.
pub(crate) const ROW_LIMIT: u64 = 4 << 20;

/// The bytes of a number of a list, and of all that a row has besides its lists.
const NUMBER: u64 = 25;
const REST: u64 = 1 << 14;

/// The bytes of the metrics of a test set.
const TEST: u64 = 1 << 10;

/// The most bytes of a row: the loss of each epoch, attention on each position in two classes, and on those that decide by head.
pub(crate) fn row(config: &ExperimentConfig) -> u64 {
    // The number of samples, and so that of epochs, is not known here; with steps alone, an epoch has at least one. Samples that
    // each step draws have no epochs.
    let epochs = if config.data.is_fresh() {
        0
    } else {
        config.training.total_steps(1)
    };
    let numbers = epochs.saturating_add(config.inputs().positions.saturating_mul(2));
    let numbers =
        numbers.saturating_add(config.model.n_layers.saturating_mul(config.model.n_heads));
    // A test set has about as many bytes as its metrics have with their names.
    let tests = (config.tests.len() as u64).saturating_mul(TEST);
    (numbers as u64)
        .saturating_mul(NUMBER)
        .saturating_add(REST)
        .saturating_add(tests)
}

/// Refuses a sweep whose rows would be too long.
///
/// # Errors
/// Names the keys to lower.
pub(crate) fn check(config: &ExperimentConfig) -> Result<(), Failure> {
    let largest = row(config);
    if largest <= ROW_LIMIT {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "`training.epochs`: a row of the results would have up to {largest} bytes, and Headlight reads at most {}; lower \
         training.epochs or data.seq_len",
        size(ROW_LIMIT)
    )))
}

/// Refuses a config that could not be read back from beside the results; the rest is the line that marks it.
///
/// # Errors
/// Names its size.
pub(crate) fn check_origin(text: &str) -> Result<(), Failure> {
    let largest = text.len() as u64 + REST;
    if largest <= TEXT_LIMIT {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "the config of the sweep would be a file of up to {largest} bytes, and Headlight reads at most {}; shorten its lists",
        size(TEXT_LIMIT)
    )))
}
