//! `headlight report`: summarises the results of a sweep.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::printing::{print_beside, print_json};
use clap::Args;
use headlight_report::counted;
use headlight_sweep::{ReportChoices, Summary};
use headlight_trainer::Failure;
use headlight_trainer::files::outputs::{Destination, Output};

use crate::arguments::{Force, Form, number, place};
use crate::terminal;

/// Summarise a sweep's results: tables, distributions, learning curves
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight report seeds.jsonl --html seeds.html\nBy one key of a grid: headlight report grid.jsonl --by training.learning_rate --svg grid.svg\nBy two keys: headlight report grid.jsonl --by model.d_model --by training.learning_rate --metric held_out_accuracy --svg map.svg"
)]
pub(crate) struct Arguments {
    /// A results file of `headlight sweep` or `headlight merge` (.jsonl)
    results: PathBuf,
    /// Compare the values of this grid key; can be given several times [default: each key that varies]
    #[arg(long, value_name = "KEY")]
    by: Vec<String>,
    /// Compare this number of the rows, by its column in CSV, such as `accuracy` or a measure; can be given several times
    /// [default: F1 on held-out samples, or on training samples if none are held out; and the measures of the rows that are one number; without `deciding_uniform`, which says nothing of a model]
    #[arg(long, value_name = "NAME")]
    metric: Vec<String>,
    /// Measure attention on this position; if given several times, on their sum; positions count from 0, `[CLS]` among them
    /// [default: the positions that decide the label of each sample]
    #[arg(long, value_name = "N", value_parser = place)]
    position: Vec<usize>,
    /// The F1 from which a run's final model counts as learned [default: report.learned of the config beside the results, or else
    /// 0.99]
    #[arg(long, value_name = "F1", value_parser = number(1.0))]
    learned: Option<f64>,
    /// Also write the plots, as an SVG picture
    #[arg(long, value_name = "FILE")]
    svg: Option<Destination>,
    /// Also write tables and plots, as an HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<Destination>,
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
    let positions: BTreeSet<usize> = arguments.position.iter().copied().collect();
    let choices = ReportChoices {
        positions: positions.into_iter().collect(),
        by: arguments.by.clone(),
        metrics: arguments.metric.clone(),
        learned: arguments.learned,
    };
    let summary = Summary::of(path, &choices)?;
    let outputs = [
        ("svg", arguments.svg.as_ref()),
        ("html", arguments.html.as_ref()),
    ];
    let outputs = Output::all(outputs, arguments.output.force)?;
    arguments.form.check(&outputs)?;
    let [svg, html] = outputs;
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
