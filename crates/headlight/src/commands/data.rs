//! `headlight data`: writes a config's dataset to a file.

use headlight_data::files::{self, Format};
use headlight_trainer::Failure;
use headlight_trainer::files::{print, write_atomically};
use headlight_trainer::session::dataset;

use crate::cli::DataArguments;

/// Writes the dataset.
///
/// # Errors
/// When the config is invalid or the file cannot be written.
pub(crate) fn run(arguments: &DataArguments) -> Result<(), Failure> {
    let config = arguments.config.load()?;
    let format = Format::of(&arguments.out).map_err(|error| Failure::Input(error.to_string()))?;
    let splits = dataset(&config)?;
    write_atomically(&arguments.out, |file| files::write(&splits, format, file))?;
    print(&format!(
        "{}: {} training samples ({} positive), {} held out ({} positive)\n",
        arguments.out.display(),
        splits.train.len(),
        splits.train.positives().count(),
        splits.held_out.len(),
        splits.held_out.positives().count(),
    ))
}
