//! Sweeps: many seeds of one config, and a grid over its keys.

use std::path::PathBuf;
use std::thread;

use headlight_report::counted;
use headlight_sweep::{Grid, Plan, ReportChoices, Results, Seeds, Summary};
use headlight_trainer::Failure;
use headlight_trainer::messages::notes;
use pyo3::prelude::*;
use toml::Value;

use crate::config::changes_of;
use crate::failure::{raised, warn};
use crate::watched::{Listeners, Report, watched};

/// Trains all runs that are not in the results file yet: the file is that of `headlight sweep`. `changes` and `grid` are
/// JSON: sections, and a list of keys with their values. `progress` is called with the runs done and all runs.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // They are the sweep's own.
pub(crate) fn sweep(
    py: Python<'_>,
    config: PathBuf,
    changes: String,
    seeds: (u64, u64),
    grid: String,
    threads: Option<usize>,
    out: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let listeners = Listeners {
        progress: progress.as_ref(),
        ..Listeners::default()
    };
    watched(py, listeners, move |sender, signals| {
        notes::begin_call();
        let changes = changes_of(&changes)?;
        let grid = grids(&grid).map_err(Failure::Input)?;
        let seeds = format!("{}..{}", seeds.0, seeds.1);
        let seeds: Seeds = seeds.parse().map_err(Failure::Input)?;
        let mut plan = Plan::new(&config, &changes, &seeds, &grid)?;
        Results::check_name(&out)?;
        plan.save_weights(&out, false)?;
        let mut results = Results::open(&out, &plan, 0..plan.runs())?;
        let threads =
            threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
        let (mut done, count) = (results.finished, plan.runs());
        results.train(&plan, threads, signals, |_| {
            done += 1;
            let _ = sender.send(Report::Share(done, count));
        })
    })
}

/// The pictures of a results file, as SVG.
#[pyfunction]
pub(crate) fn sweep_picture(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let read = py.detach(|| Summary::read(&path, &ReportChoices::default()));
    warn(py)?;
    let summary = read.map_err(raised)?;
    Ok(summary.picture(&counted(summary.runs(), "run")))
}

/// The keys of a grid and their values.
fn grids(json: &str) -> Result<Vec<Grid>, String> {
    let read = serde_json::from_str(json);
    let keys: Vec<(String, Vec<Value>)> = read.map_err(|error| format!("the grid: {error}"))?;
    let each = keys.into_iter().map(|(key, values)| {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        format!("{key}={}", values.join(",")).parse()
    });
    each.collect()
}
