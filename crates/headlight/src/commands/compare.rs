//! `headlight compare`: runs side by side.

use std::path::{Path, PathBuf};

use crate::printing::{print, print_json};
use clap::Args;
use headlight_experiment::config::toml::default_of;
use headlight_experiment::metrics::METRICS;
use headlight_inspector::{number, shorten_apart};
use headlight_trainer::Failure;
use headlight_trainer::storage::run_dir::RunDir;
use headlight_trainer::storage::standard::shown;
use serde_json::{Value, json};
use toml::Table;

use crate::arguments::Form;
use crate::terminal::{GAP, aligned};

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

/// What the metrics' names mean.
const LEGEND: &str = "\
train_loss: batch loss, the mean since the epoch began
loss and the others: over all training samples after the step
held_out_: over samples that are not trained on
attention, uniform: of [CLS] on the positions that decide the
label, mean over heads, and the same if it were uniform";

/// The same, if a run keeps its best model.
const LEGEND_OF_BEST: &str = "\
step: that of the best model if training.keep_best is set,
else the last one; all metrics are of that model
";

/// Prints the settings that differ between the runs, and the metrics of the model of each.
///
/// # Errors
/// When a run cannot be read.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let runs = arguments
        .runs
        .iter()
        .map(|path| Summary::read(path))
        .collect::<Result<Vec<_>, _>>()?;
    if arguments.form.json {
        let runs = runs
            .iter()
            .map(|run| json!({"run": run.name, "step": run.metrics["step"], "config": run.config, "class_names": run.class_names, "metrics": run.metrics}));
        return print_json(&json!({"runs": runs.collect::<Vec<_>>()}));
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    let row = |name: &str, cell: &dyn Fn(&Summary) -> String| {
        let cells = runs.iter().map(cell);
        std::iter::once(name.to_owned()).chain(cells).collect()
    };
    rows.push(row("run", &|run| run.name.clone()));
    let keys = differing_keys(&runs);
    let widest = keys.iter().map(String::len).max().unwrap_or(0);
    let room = COLUMNS.saturating_sub(widest.max(LEAST_NAME)) / runs.len();
    let room = room.saturating_sub(GAP.len()).max(LEAST_VALUE);
    for key in keys {
        let default = default_of(&key).unwrap_or_else(|| "–".to_owned());
        let values = runs.iter().map(|run| {
            let mut settings = run.settings.iter();
            let found = settings.find(|(name, _)| *name == key);
            found.map_or(&*default, |(_, value)| value)
        });
        let values: Vec<&str> = values.collect();
        let cells = shorten_apart(&values, room).into_iter();
        rows.push([key].into_iter().chain(cells).collect());
    }
    let train = METRICS
        .iter()
        .map(|info| (info.name.to_owned(), info.decimals));
    let ratios = METRICS.iter().filter(|info| info.is_ratio);
    let held_out = ratios.map(|info| (format!("held_out_{}", info.name), info.decimals));
    let first = [("step".to_owned(), 0), ("train_loss".to_owned(), 5)];
    for (name, decimals) in first.into_iter().chain(train).chain(held_out) {
        let cell = |run: &Summary| number(run.metrics[&name].as_f64(), decimals);
        rows.push(row(&name, &cell));
    }
    let keeps_best = runs.iter().any(|run| run.keeps_best);
    let of_best = if keeps_best { LEGEND_OF_BEST } else { "" };
    let mut legend = if runs.iter().all(|run| run.reads_cls) {
        LEGEND.to_owned()
    } else if runs.iter().any(|run| run.reads_mean) {
        LEGEND.replace("[CLS]", "the position named\nbelow,")
    } else {
        LEGEND.replace("[CLS]", "the position that the class\nis read from,")
    };
    if runs.iter().all(Summary::is_fresh) {
        legend = legend
            .replace(
                "the mean since the epoch began",
                "that of the step's batch before it",
            )
            .replace(
                "over all training samples after the step",
                "over that batch after the step",
            );
    } else {
        let fresh = runs.iter().filter(|run| run.is_fresh());
        legend.extend(fresh.map(|run| {
            format!(
                "\n{}: train_loss, loss and the others are of the step's batch,\nsince each step drew its own samples",
                run.name
            )
        }));
    }
    legend.extend(runs.iter().filter(|run| run.reads_mean).map(|run| {
        format!(
            "\n{}: the class is read from the mean of all positions;\nattention is that of {}",
            run.name, run.reader
        )
    }));
    print(&format!("{}\n{of_best}{legend}\n", aligned(&rows, 1)))
}

/// The columns of a terminal, those of the longest metric's name, and those that a value of a setting has at least.
const COLUMNS: usize = 80;
const LEAST_NAME: usize = 18;
const LEAST_VALUE: usize = 12;

struct Summary {
    name: String,
    config: Table,
    class_names: Vec<String>,
    keeps_best: bool,
    reads_cls: bool,
    reads_mean: bool,
    /// The position whose attention is measured.
    reader: String,
    /// Keys of the config, with their sections, and their values.
    settings: Vec<(String, String)>,
    /// The row of `metrics.jsonl` of the best model if the run keeps it, or else the last one.
    metrics: Value,
}

impl Summary {
    /// Whether each step drew its own samples.
    fn is_fresh(&self) -> bool {
        let samples = self.config.get("data").and_then(|data| data.get("samples"));
        samples.and_then(toml::Value::as_str) == Some("fresh")
    }

    fn read(path: &Path) -> Result<Self, Failure> {
        let run = RunDir::open(path)?;
        let config = run.config()?;
        let kept = run.kept_metrics(&config)?;
        let class_names = config.data.classes.clone();
        let keeps_best = config.training.keep_best.is_some();
        let (reads_cls, reads_mean) = (config.reads_cls(), config.reads_mean());
        let reader = config.measured_reader();
        let table = Table::try_from(config)
            .map_err(|error| Failure::System(format!("the config cannot be compared: {error}")))?;
        let mut settings = Vec::new();
        flatten("", &table, &mut settings);
        Ok(Self {
            name: shown(path),
            config: table,
            class_names,
            keeps_best,
            reads_cls,
            reads_mean,
            reader,
            settings,
            metrics: kept.ok_or_else(|| Failure::reading(path, "its metrics.jsonl is empty"))?,
        })
    }
}

fn flatten(prefix: &str, table: &Table, settings: &mut Vec<(String, String)>) {
    for (key, value) in table {
        let key = if prefix.is_empty() {
            key.clone()
        } else {
            format!("{prefix}.{key}")
        };
        match value {
            toml::Value::Table(inner) => flatten(&key, inner, settings),
            value => settings.push((key, value.to_string())),
        }
    }
}

/// Keys that do not have the same value in all runs.
fn differing_keys(runs: &[Summary]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for (key, value) in runs.iter().flat_map(|run| &run.settings) {
        let same = runs.iter().all(|run| {
            run.settings
                .iter()
                .any(|(name, other)| name == key && other == value)
        });
        if !same && !keys.contains(key) {
            keys.push(key.clone());
        }
    }
    keys
}
