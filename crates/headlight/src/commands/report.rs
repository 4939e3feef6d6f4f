//! `headlight report`: summarises the results of a sweep.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use headlight_report::counted;
use headlight_sweep::{ReportChoices, Summary};
use headlight_trainer::Failure;

use crate::arguments::{DocumentArguments, index, number};
use crate::printing::{print_beside, print_json};
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
    /// Compare this metric or measure, by its name in the rows, such as `accuracy`; can be given several times [default: F1, on
    /// held-out samples if there are any; and the measures that are one number, without `deciding_uniform`]
    #[arg(long, value_name = "NAME")]
    metric: Vec<String>,
    /// Measure attention on this position; if given several times, on their sum; positions count from 0, `[CLS]` among them
    /// [default: the positions that decide the label of each sample]
    #[arg(long, value_name = "N", value_parser = index)]
    position: Vec<usize>,
    /// The F1 from which a run's final model counts as learned [default: report.learned of the config beside the results, or else
    /// 0.99]
    #[arg(long, value_name = "F1", value_parser = number(1.0))]
    learned: Option<f64>,
    #[command(flatten)]
    document: DocumentArguments,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = &arguments.results;
    let positions: BTreeSet<usize> = arguments.position.iter().copied().collect();
    let choices = ReportChoices {
        positions: positions.into_iter().collect(),
        by: arguments.by.clone(),
        metrics: arguments.metric.clone(),
        learned: arguments.learned,
    };
    let summary = Summary::read(path, &choices)?;
    let outputs = arguments.document.open()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let document = summary.document(&format!("{} of {name}", counted(summary.runs(), "run")));
    outputs.write(&document)?;
    if arguments.document.form.json {
        return print_json(&summary.values());
    }
    print_beside(&outputs.0, &terminal::written(&document))
}
