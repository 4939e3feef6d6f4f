//! `headlight data`: writes a config's dataset to a file.

use clap::Args;
use headlight_data::files::{self, Contents, Format};
use headlight_data::{Dataset, DatasetConfig, Source};
use headlight_trainer::Failure;
use headlight_trainer::sessions::session::{dataset, fit};
use headlight_trainer::storage::dataset_file;
use headlight_trainer::storage::outputs::{Destination, Output};

use crate::arguments::{ConfigArguments, Force};
use crate::printing::tell;

/// Write a config's dataset as .npz, .csv or .jsonl
#[derive(Args, Debug)]
#[command(after_help = "Example: headlight data --out notebook.npz")]
pub(crate) struct Arguments {
    /// The experiment
    #[command(flatten)]
    config: ConfigArguments,
    /// The file to write; its extension selects the format: .npz, .csv or .jsonl
    #[arg(long, value_name = "FILE")]
    out: Destination,
    #[command(flatten)]
    output: Force,
}

/// Writes the dataset.
///
/// # Errors
/// When the config is invalid or the file cannot be written.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let config = arguments.config.load()?;
    let out = Output::new(&arguments.out, arguments.output.force)?;
    let format = Format::of(out.named("-.csv"))?;
    let rows = match &config.data.source {
        Source::File(path) => Some(dataset_file::read(path, &config.data.columns)?),
        Source::Generated { .. } => None,
    };
    let splits = match &rows {
        Some(rows) => fit(rows, &config)?,
        None => dataset(&config)?,
    };
    let contents = Contents {
        splits: &splits,
        config: &config.data,
        padding_token: config.model.attention.padding_token,
        rows: rows.as_ref(),
    };
    out.write(|file| files::write(contents, format, file))?;
    tell(
        out,
        &format!(
            "{} training samples ({}), {} held out ({})",
            splits.train.len(),
            by_class(&splits.train, &config.data),
            splits.held_out.len(),
            by_class(&splits.held_out, &config.data),
        ),
    )
}

/// How many samples there are of each class.
fn by_class(dataset: &Dataset, config: &DatasetConfig) -> String {
    let counts = dataset.class_counts(config.n_classes);
    if let ([_, positive], []) = (&counts[..], &config.classes[..]) {
        return format!("{positive} positive");
    }
    let counts = counts.iter().enumerate().map(|(class, count)| {
        let name = config.classes.get(class);
        name.map_or_else(|| count.to_string(), |name| format!("{name} {count}"))
    });
    format!("by class: {}", counts.collect::<Vec<_>>().join(", "))
}
