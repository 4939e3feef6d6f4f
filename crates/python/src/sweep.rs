//! Sweeps: many seeds of one config, and a grid over its keys.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::thread;

use headlight_sweep::{Grid, Plan, Row, Seeds, Sink, run, work};
use headlight_trainer::Failure;
use pyo3::prelude::*;

use crate::watched::watched;

/// Trains all runs, and returns the rows of the results file that `headlight sweep` writes. `progress` is called with the
/// runs done.
#[pyfunction]
pub(crate) fn sweep(
    py: Python<'_>,
    config: PathBuf,
    changes: Vec<String>,
    seeds: (u64, u64),
    grid: Vec<String>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Vec<String>, usize)> {
    watched(py, progress.as_ref(), move |sender, signals| {
        let grid = grid.iter().map(|text| text.parse::<Grid>());
        let grid = grid
            .collect::<Result<Vec<_>, _>>()
            .map_err(Failure::Input)?;
        let seeds = format!("{}..{}", seeds.0, seeds.1);
        let seeds: Seeds = seeds.parse().map_err(Failure::Input)?;
        let plan = Plan::new(&config, &changes, &seeds, &grid)?;
        let most =
            threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
        let mut rows = Rows {
            sender,
            done: 0,
            lines: Vec::with_capacity(plan.len()),
        };
        let train = |index| run(&plan, index, signals);
        let all: Range<usize> = 0..plan.len();
        work(train, all, most.min(plan.len()), signals, &mut rows)?;
        Ok((rows.lines, plan.len()))
    })
}

/// Keeps rows as JSON.
struct Rows {
    sender: Sender<usize>,
    done: usize,
    lines: Vec<String>,
}

impl Sink<Row> for Rows {
    fn started(&mut self, _threads: usize) {}

    fn finished(&mut self, _row: &Row) {
        self.done += 1;
        let _ = self.sender.send(self.done);
    }

    fn in_order(&mut self, row: Row) -> Result<(), Failure> {
        let line = serde_json::to_string(&row);
        let line =
            line.map_err(|error| Failure::System(format!("a row cannot be written: {error}")))?;
        self.lines.push(line);
        Ok(())
    }
}
