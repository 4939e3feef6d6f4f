//! `headlight compare`: runs side by side.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::metrics::{METRICS, MetricKind};
use headlight_report::{Table, number, shorten_apart};
use headlight_trainer::training::resume::differences;
use headlight_trainer::{Failure, RunDir, shown};
use serde_json::{Value, json};

use crate::arguments::Form;
use crate::printing::{print, print_json};
use crate::terminal;

/// Show runs side by side: the settings that differ, and the metrics of the best model, or else of the last one
#[derive(Args, Debug)]
#[command(after_help = "Example: headlight compare runs/notebook-1 runs/notebook-2")]
pub(crate) struct Arguments {
    /// Run directories
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let runs = arguments.runs.iter().map(|path| Summary::read(path));
    let runs = runs.collect::<Result<Vec<Summary>, Failure>>()?;
    if arguments.form.json {
        let runs = runs.iter().map(|run| {
            json!({
                "run": run.name,
                "step": run.metrics["step"],
                "config": run.settings,
                "class_names": run.config.data.classes,
                "metrics": run.metrics,
            })
        });
        return print_json(&json!({"runs": runs.collect::<Vec<_>>()}));
    }
    let row = |name: &str, cell: &dyn Fn(&Summary) -> String| {
        let cells = runs.iter().map(cell);
        std::iter::once(name.to_owned()).chain(cells).collect()
    };
    let mut rows: Vec<Vec<String>> = vec![row("run", &|run| run.name.clone())];
    for (key, values) in differing(&runs) {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let cells = shorten_apart(&values, MAX_VALUE_COLUMNS).into_iter();
        rows.push([key].into_iter().chain(cells).collect());
    }
    let train = METRICS
        .iter()
        .map(|info| (info.name.to_owned(), info.decimals));
    let ratios = METRICS.iter().filter(|info| info.kind == MetricKind::Ratio);
    let held_out = ratios.map(|info| (format!("held_out_{}", info.name), info.decimals));
    let first = [("step".to_owned(), 0), ("train_loss".to_owned(), 5)];
    for (name, decimals) in first.into_iter().chain(train).chain(held_out) {
        let cell = |run: &Summary| number(run.metrics[&name].as_f64(), decimals);
        rows.push(row(&name, &cell));
    }
    let table = Table::of_text("", "", rows)
        .with_left_names()
        .text(terminal::options());
    print(&format!("{table}\n{}", terminal::paragraphs(legend(&runs))))
}

/// What the metrics' names mean.
fn legend(runs: &[Summary]) -> Vec<String> {
    let configs = || runs.iter().map(|run| &run.config);
    let mut legend = Vec::new();
    if configs().any(|config| config.training.keep_best.is_some()) {
        legend.push(
            "step: that of the best model if training.keep_best is set, else the last one; all metrics are of that model".to_owned(),
        );
    }
    let are_fresh = configs().all(|config| config.data.is_fresh());
    let [batch_loss, over] = if are_fresh {
        [
            "that of the step's batch before it",
            "that batch after the step",
        ]
    } else {
        [
            "the mean since the epoch began",
            "all training samples after the step",
        ]
    };
    let reader = if configs().all(ExperimentConfig::reads_cls) {
        "[CLS]"
    } else if configs().any(ExperimentConfig::reads_mean) {
        "the position named below"
    } else {
        "the readout position"
    };
    legend.extend([
        format!("train_loss: batch loss, {batch_loss}"),
        format!("loss and the others: over {over}"),
        "held_out_: over samples that are not trained on".to_owned(),
        format!("attention: of {reader} on the positions that decide the label, mean over heads"),
        "uniform: what that attention would be if it were uniform".to_owned(),
    ]);
    for Summary { name, config, .. } in runs {
        if config.data.is_fresh() && !are_fresh {
            legend.push(format!(
                "{name}: train_loss, loss and the others are of the step's batch, since each step drew its own samples"
            ));
        }
        if config.reads_mean() {
            legend.push(format!(
                "{name}: the class is read from the mean of all positions; attention is that of {}",
                config.measured_readout_name()
            ));
        }
    }
    legend
}

/// The most columns of a setting's value.
const MAX_VALUE_COLUMNS: usize = 24;

struct Summary {
    name: String,
    config: ExperimentConfig,
    /// The config as JSON, without the keys that it leaves out.
    settings: Value,
    /// The row of `metrics.jsonl` of the best model if the run keeps it, or else the last one.
    metrics: Value,
}

impl Summary {
    fn read(path: &Path) -> Result<Self, Failure> {
        let run = RunDir::open(path)?;
        let config = run.config()?;
        let kept = run.kept_metrics(&config)?;
        let settings = toml::Table::try_from(&config)
            .map_err(|error| Failure::System(format!("the config cannot be compared: {error}")))?;
        Ok(Self {
            name: shown(path),
            config,
            settings: json!(settings),
            metrics: kept.ok_or_else(|| Failure::reading(path, "its metrics.jsonl is empty"))?,
        })
    }
}

/// The settings that differ between the runs, each with its value in every run.
fn differing(runs: &[Summary]) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for (index, run) in runs.iter().enumerate() {
        for (key, first, value) in differences(&runs[0].settings, &run.settings) {
            let values = found.entry(key).or_insert_with(|| vec![first; runs.len()]);
            values[index] = value;
        }
    }
    found
}
