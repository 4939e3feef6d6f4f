//! Sweeps: many seeds of one config, and a grid over its keys.

use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::thread;

use headlight_inspector::counted;
use headlight_sweep::{Busy, Grid, Plan, Results, Row, Seeds, Sink, Summary, run, work};
use headlight_trainer::Failure;
use pyo3::prelude::*;

use crate::watched::watched;

/// Trains all runs that are not in the results file yet: the file is that of `headlight sweep`. `progress` is called with
/// the runs done. Returns the pictures as SVG.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // They are the sweep's own.
pub(crate) fn sweep(
    py: Python<'_>,
    config: PathBuf,
    changes: Vec<String>,
    seeds: (u64, u64),
    grid: Vec<String>,
    threads: Option<usize>,
    out: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    watched(py, progress.as_ref(), move |sender, signals| {
        let grid = grid.iter().map(|text| text.parse::<Grid>());
        let grid = grid
            .collect::<Result<Vec<_>, _>>()
            .map_err(Failure::Input)?;
        let seeds = format!("{}..{}", seeds.0, seeds.1);
        let seeds: Seeds = seeds.parse().map_err(Failure::Input)?;
        let plan = Plan::new(&config, &changes, &seeds, &grid)?;
        Results::check_name(&out)?;
        let results = Results::open(&out, &plan, 0..plan.len(), Busy::Refuse)?;
        let left = results.finished..plan.len();
        let threads =
            threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
        let mut rows = Rows {
            sender,
            done: results.finished,
            results,
        };
        let train = |index| run(&plan, index, signals);
        let worked = work(
            train,
            left.clone(),
            threads.min(left.len().max(1)),
            signals,
            &mut rows,
        );
        let mut results = rows.results;
        if worked.is_err() {
            results.discard_empty();
        }
        results.sync()?;
        worked?;
        results.check()?;
        if signals.received().is_some() {
            return Ok(String::new());
        }
        let summary = Summary::read(&out, &plan)?;
        let title = counted(summary.runs(), "run");
        Ok(summary.picture(&title))
    })
}

/// Writes rows.
struct Rows {
    sender: Sender<usize>,
    done: usize,
    results: Results,
}

impl Sink<Row> for Rows {
    fn started(&mut self, _threads: usize) {}

    fn finished(&mut self, _row: &Row) {
        self.done += 1;
        let _ = self.sender.send(self.done);
    }

    fn in_order(&mut self, row: Row) -> Result<(), Failure> {
        self.results.append(&row)
    }
}
