//! A matrix as a table: how its numbers are written, beside those that a document prints.

use super::Table;
use super::table::{Cell, Mark, Row};

/// Decimals of numbers that need more than this to be exact.
const DECIMALS: usize = 4;

/// The most columns that are shown.
const MAX_COLUMNS: usize = 256;

/// A matrix with names for its rows and columns; `Table::from` writes its numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// What it holds.
    pub title: String,
    /// How it is computed.
    pub how: String,
    /// The names of its rows.
    pub rows: Vec<String>,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// `[row][column]`
    pub values: Vec<Vec<f64>>,
    /// Whether the values are shares from 0 to 1, and their cells are shaded.
    pub shaded: bool,
    /// The numbers that a document prints of them.
    pub printed: Vec<PrintedNumber>,
    /// Why numbers differ from those printed, one sentence each.
    pub notes: Vec<String>,
}

/// A number that a document prints for a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrintedNumber {
    /// The cell's row.
    pub row: usize,
    /// The cell's column.
    pub column: usize,
    /// The number printed.
    pub value: f64,
    /// The decimals that it is printed with.
    pub decimals: usize,
    /// Whether it differs from the cell's by more than rounding does.
    pub differs: bool,
}

impl From<Numbers> for Table {
    fn from(numbers: Numbers) -> Self {
        let (count, decimals) = (numbers.columns.len(), numbers.decimals());
        let shown = count.min(MAX_COLUMNS);
        let cell = |row: usize, column: usize| {
            let value = numbers.values[row][column];
            let printed = numbers.printed.iter();
            Cell {
                text: written(value, decimals),
                share: numbers.shaded.then(|| value.clamp(0.0, 1.0) as f32),
                marks: printed
                    .filter(|printed| printed.row == row && printed.column == column)
                    .map(Mark::of)
                    .collect(),
            }
        };
        let rows = numbers.rows.iter().enumerate().map(|(row, name)| Row {
            name: name.clone(),
            cells: (0..shown).map(|column| cell(row, column)).collect(),
        });
        let rows = rows.collect();
        let left_out = (shown < count).then(|| {
            format!(
                "columns {shown} to {} are not shown; the JSON has them",
                count - 1
            )
        });
        Self {
            title: numbers.title,
            how: numbers.how,
            columns: numbers.columns.into_iter().take(shown).collect(),
            rows,
            notes: left_out.into_iter().chain(numbers.notes).collect(),
            ..Self::default()
        }
    }
}

impl Numbers {
    /// The same decimals for all values: enough to be exact, or to tell them from those printed.
    fn decimals(&self) -> usize {
        let exact = (0..DECIMALS).find(|&decimals| {
            let unit = 10_f64.powf(decimals as f64);
            let finite = self
                .values
                .iter()
                .flatten()
                .filter(|value| value.is_finite());
            finite.map(|value| value * unit).all(|scaled| {
                // Far more than what sums in binary differ by from decimals.
                (scaled - scaled.round()).abs() <= scaled.abs().max(unit) * 1e-6
            })
        });
        let differing = self.printed.iter().filter(|printed| printed.differs);
        let needed = differing.map(|printed| printed.decimals + 1).max();
        exact.unwrap_or_else(|| needed.unwrap_or(0).max(DECIMALS))
    }
}

impl Mark {
    fn of(printed: &PrintedNumber) -> Self {
        let sign = if printed.differs { '≠' } else { '=' };
        Self {
            text: format!("{sign}{}", written(printed.value, printed.decimals)),
            differs: printed.differs,
        }
    }
}

fn written(value: f64, decimals: usize) -> String {
    if value == f64::NEG_INFINITY {
        "−∞".to_owned()
    } else if value.abs() >= 1e7 {
        format!("{value:.DECIMALS$e}")
    } else {
        minus(&format!("{value:.decimals$}"))
    }
}

/// A number with a minus sign as wide as a plus sign, and with none before zero.
fn minus(number: &str) -> String {
    let digits = number.trim_start_matches('-');
    if digits.chars().all(|digit| matches!(digit, '0' | '.')) {
        return digits.to_owned();
    }
    number.replace('-', "−")
}
