//! Two keys of a grid side by side: a number at each pair of their values, as a table and a map of colours.

use headlight_report::{GridPlot, Plot, Table, number};
use serde::Serialize;
use serde_json::Value;

use super::cells::MOST_ROWS;
use super::columns::Column;
use super::groups::display;
use super::statistics::Stats;
use super::summary::Summary;

/// The most columns of such a table.
const MOST_COLUMNS: usize = 32;

/// A number at each pair of values of two keys.
#[derive(Serialize)]
pub(super) struct GridMap<'a> {
    /// The number, by its column in CSV.
    metric: String,
    #[serde(skip)]
    label: String,
    #[serde(skip)]
    decimals: usize,
    /// The key of columns, and that of rows.
    keys: [&'a str; 2],
    /// Their values.
    values: [Vec<Value>; 2],
    /// `null` for a pair without runs. `[row][column]`
    cells: Vec<Vec<Option<Stats>>>,
}

/// The maps of all numbers that are compared, if exactly two keys are.
pub(super) fn find(summary: &Summary) -> Vec<GridMap<'_>> {
    let [across, up] = &summary.choices.by[..] else {
        return Vec::new();
    };
    let keys = [across, up].map(|key| &**key);
    let values = keys.map(|key| summary.values_of(key));
    let columns = values[0].len();
    if columns > MOST_COLUMNS || values[1].len() > MOST_ROWS || across == up {
        return Vec::new();
    }
    let runs = summary.runs_of(columns * values[1].len(), |_, point| {
        let index = |side: usize| {
            let value = point.values.get(keys[side])?;
            values[side].iter().position(|other| other == value)
        };
        Some(index(1)? * columns + index(0)?)
    });
    let map = |column: &Column| {
        let cell = |runs: &Vec<usize>| summary.stats(&column.values, runs.iter().copied());
        let row = |runs: &[Vec<usize>]| runs.iter().map(cell).collect();
        GridMap {
            metric: column.name.clone(),
            label: column.label.clone(),
            decimals: column.decimals,
            keys,
            cells: runs.chunks(columns).map(row).collect(),
            values: values.clone(),
        }
    };
    summary.compared().into_iter().map(map).collect()
}

impl GridMap<'_> {
    fn names(&self, side: usize) -> Vec<String> {
        self.values[side].iter().map(display).collect()
    }

    /// Means, each with its number of runs.
    pub(super) fn table(&self) -> Table {
        let [across, up] = self.keys;
        let mut header = vec![up.to_owned()];
        header.extend(self.names(0));
        let mut rows = vec![header];
        for (name, cells) in self.names(1).into_iter().zip(&self.cells) {
            let cell = |stats: &Option<Stats>| {
                let Some(stats) = stats else {
                    return number(None, 0);
                };
                let mean = number(Some(stats.mean), self.decimals);
                format!("{mean} ({})", stats.runs)
            };
            let cells = cells.iter().map(cell);
            rows.push([name].into_iter().chain(cells).collect());
        }
        let how =
            format!("means (number of runs) at each pair of values; columns: {across}, rows: {up}");
        Table::of_text(&format!("{} by {up} and {across}", self.label), &how, rows)
    }

    pub(super) fn plot(&self) -> Plot {
        let cell = |stats: &Option<Stats>| {
            let stats = stats.as_ref()?;
            Some((stats.mean, stats.runs))
        };
        Plot::Grid(GridPlot {
            quantity: format!("mean {}", self.label),
            decimals: self.decimals,
            labels: self.keys.map(str::to_owned),
            names: [0, 1].map(|side| self.names(side)),
            cells: self
                .cells
                .iter()
                .map(|row| row.iter().map(cell).collect())
                .collect(),
        })
    }
}
