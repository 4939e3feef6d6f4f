//! `headlight certify`: how a run's model answers every possible input.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

use clap::Args;
use headlight_architecture::Parameter;
use headlight_experiment::Error;
use headlight_experiment::certificate::{self, Certificate, Sampled};
use headlight_inspector::Document;
use headlight_trainer::Failure;
use headlight_trainer::documents::certificate::{sampled_section, section};
use headlight_trainer::sessions::signals::Signals;
use headlight_trainer::storage::standard::shown;
use serde::Serialize;

use super::model::RunModel;
use crate::arguments::{Form, at_least_one};
use crate::printing::{print, print_json};
use crate::terminal::{self, set_share, share_bar};

/// The most inputs of a label that are listed.
const MOST_EXAMPLES: usize = 10_000;

/// Count how a run's model answers every possible input
///
/// The count is exact: it is that of the fused engine's answers. The model must have one block and read one position, and the config
/// must have a rule that gives every input a label.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight certify runs/notebook-1\nWith more of the worst inputs: headlight certify runs/notebook-1 --examples 50\nFor other models, an estimate: headlight certify runs/equal_positions-1 --sample 1000000"
)]
pub(crate) struct Arguments {
    /// A run directory
    run: PathBuf,
    /// Use these weights, a safetensors file [default: those of the best model if the run keeps it, or else those after the last
    /// step]
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// For each label, list the K inputs with the smallest margins; 0 for the count alone
    #[arg(
        long,
        value_name = "K",
        allow_negative_numbers = true,
        default_value_t = 10,
        value_parser = few,
        conflicts_with = "sample"
    )]
    examples: usize,
    /// Ask the model about N random inputs instead of all, and estimate the share of wrong answers
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    sample: Option<NonZeroUsize>,
    #[command(flatten)]
    form: Form,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Line<'a> {
    run: &'a Path,
    #[serde(flatten)]
    found: Found,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Found {
    Counted(Certificate),
    Sampled { sampled: Sampled },
}

/// The number of examples.
fn few(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| *count <= MOST_EXAMPLES);
    count.ok_or_else(|| format!("it must be a whole number from 0 to {MOST_EXAMPLES}"))
}

/// Prints the certificate.
///
/// # Errors
/// When the run cannot be read, its model has no certificate, or a signal comes.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let model = RunModel::open(&arguments.run, arguments.weights.as_deref(), None)?;
    let weights = Parameter::weights(&model.parameters);
    let config = &model.config;
    if let (Err(reason), None) = (certificate::check(config), arguments.sample) {
        let instead = match certificate::check_rule(config) {
            Ok(_) => "; give --sample N to ask the model about N random inputs instead",
            Err(_) => "",
        };
        return Err(Failure::Input(format!("a certificate {reason}{instead}")));
    }

    let signals = Signals::listen()
        .map_err(|error| Failure::System(format!("signals cannot be handled: {error}")))?;
    let bar = share_bar();
    let watch = |share: f64| {
        set_share(&bar, share);
        match signals.received() {
            None => Ok(()),
            Some(_) => Err(Error::Input("interrupted".to_owned())),
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let found = match arguments.sample {
        Some(count) => {
            certificate::sample(config, &weights, count.get() as u64, config.seed, &watch)
                .map(|sampled| Found::Sampled { sampled })
        }
        None => certificate::certify(config, &weights, arguments.examples, threads, &watch)
            .map(Found::Counted),
    };
    bar.finish_and_clear();
    if let Some(signal) = signals.received() {
        let message = match (arguments.sample, arguments.examples) {
            (Some(_), _) => "interrupted before the model had answered all random inputs",
            (None, 0) => {
                "interrupted before the count had ended; --sample N asks about N random inputs"
            }
            (None, _) => {
                "interrupted before the count and the search for the smallest margins had ended; --examples 0 gives the count alone"
            }
        };
        let message = message.to_owned();
        return Err(Failure::Interrupted { signal, message });
    }
    let found = found?;
    if arguments.form.json {
        return print_json(&Line {
            run: &arguments.run,
            found,
        });
    }
    let section = match &found {
        Found::Counted(certificate) => section(certificate, config),
        Found::Sampled { sampled } => sampled_section(sampled),
    };
    let rule = config.data.rule.as_ref();
    let question = rule.map_or_else(String::new, |rule| rule.question());
    let document = Document {
        title: format!("{}: {question}", shown(&arguments.run)),
        sections: vec![section],
        ..Document::default()
    };
    print(&terminal::written(&document))
}
