//! `headlight report`: summarises the results of a sweep.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::printing::{print_beside, print_json};
use clap::Args;
use headlight_experiment::config::LEARNED;
use headlight_inspector::counted;
use headlight_sweep::{AttentionTarget, Summary};
use headlight_trainer::Failure;
use headlight_trainer::storage::outputs::Output;

use crate::arguments::{Force, Form};
use crate::terminal;

/// Summarise a sweep's results: tables, distributions, learning curves
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight report seeds.jsonl --html seeds.html\nBy one key of a grid: headlight report grid.jsonl --by training.learning_rate --svg grid.svg"
)]
pub(crate) struct Arguments {
    /// A results file of `headlight sweep` or `headlight merge` (.jsonl)
    results: PathBuf,
    /// Compare the values of this grid key; can be given several times [default: each key that varies]
    #[arg(long, value_name = "KEY")]
    by: Vec<String>,
    /// Measure attention on this position; if given several times, on their sum; `[CLS]` is at 0
    /// [default: the position with the most attention]
    #[arg(long, value_name = "N")]
    position: Vec<usize>,
    /// The F1 from which a run's final model counts as learned: its config's report.learned
    #[arg(long, value_name = "F1", default_value_t = LEARNED, value_parser = share)]
    learned: f64,
    /// Also write the plots, as an SVG picture
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Also write tables and plots, as an HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    output: Force,
    #[command(flatten)]
    form: Form,
}

/// Prints tables and histograms of a results file, and writes the requested plots and page.
///
/// # Errors
/// When the results cannot be read, or a file cannot be written.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = &arguments.results;
    let outputs = [arguments.svg.as_deref(), arguments.html.as_deref()];
    let outputs = Output::all(outputs, &[path], arguments.output.force)?;
    arguments.form.check(&outputs)?;
    let [svg, html] = outputs;
    let target = match arguments.position.as_slice() {
        [] => AttentionTarget::Main,
        positions => AttentionTarget::Positions(
            BTreeSet::from_iter(positions)
                .into_iter()
                .copied()
                .collect(),
        ),
    };
    let summary = Summary::of(path, target, &arguments.by, arguments.learned)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let document = summary.document(&format!("{} of {name}", counted(summary.runs(), "run")));
    if let Some(out) = svg {
        out.write_all(document.plots_svg().as_bytes())?;
    }
    if let Some(out) = html {
        out.write_all(document.html().as_bytes())?;
    }
    if arguments.form.json {
        return print_json(&summary.values());
    }
    print_beside(&outputs, &terminal::written(&document))
}

/// Reads a number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "give a number from 0 to 1".to_owned())
}
