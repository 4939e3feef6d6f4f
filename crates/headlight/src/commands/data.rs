//! `headlight data`: writes a config's dataset to a file.

use headlight_data::Dataset;
use headlight_data::files::{self, Format};
use headlight_trainer::Failure;
use headlight_trainer::outputs::Output;
use headlight_trainer::session::dataset;

use crate::cli::DataArguments;

/// Writes the dataset.
///
/// # Errors
/// When the config is invalid or the file cannot be written.
pub(crate) fn run(arguments: &DataArguments) -> Result<(), Failure> {
    let config = arguments.config.load()?;
    let inputs = arguments.config.inputs(&config);
    let out = Output::new(&arguments.out, &inputs, arguments.output.force)?;
    let format =
        Format::of(out.named("-.csv")).map_err(|error| Failure::Input(error.to_string()))?;
    let splits = dataset(&config)?;
    out.write(|file| files::write(&splits, format, file))?;
    out.tell(&format!(
        "{} training samples ({}), {} held out ({})",
        splits.train.len(),
        by_class(&splits.train, config.data.n_classes),
        splits.held_out.len(),
        by_class(&splits.held_out, config.data.n_classes),
    ))
}

/// How many samples there are of each class.
fn by_class(dataset: &Dataset, n_classes: usize) -> String {
    let counts = dataset.class_counts(n_classes);
    if let [_, positive] = counts[..] {
        return format!("{positive} positive");
    }
    let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
    format!("by class: {}", counts.join(", "))
}
