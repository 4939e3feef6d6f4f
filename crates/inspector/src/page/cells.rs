//! How the numbers of a table are written.

use unicode_width::UnicodeWidthStr;

use super::{Printed, Table};

/// Decimals of numbers that are no shorter ones.
const DECIMALS: usize = 4;

/// How the numbers of a table are written: all with the same decimals, which suffice to tell them
/// from those printed.
pub(super) struct Cells<'a> {
    table: &'a Table,
    decimals: usize,
    /// The names of rows, short enough to stand beside numbers.
    pub(super) rows: Vec<String>,
    /// The names of columns, short enough to stand above numbers.
    pub(super) columns: Vec<String>,
}

impl<'a> Cells<'a> {
    pub(super) fn of(table: &'a Table) -> Self {
        let exact = (0..DECIMALS).find(|&decimals| {
            let unit = 10_f64.powf(decimals as f64);
            let finite = table.values.iter().filter(|value| value.is_finite());
            finite.map(|&value| f64::from(value) * unit).all(|scaled| {
                // A number of float32 is as near to a decimal as this where it stands for one.
                (scaled - scaled.round()).abs() <= scaled.abs().max(unit) * 1e-6
            })
        });
        let differing = table.printed.iter().filter(|printed| printed.differs);
        let needed = differing.map(|printed| printed.decimals + 1).max();
        let decimals = match exact {
            Some(exact) => exact,
            None => needed.unwrap_or(0).max(DECIMALS),
        };
        Self {
            table,
            decimals,
            rows: short(&table.rows),
            columns: short(&table.columns),
        }
    }

    /// Columns of a terminal that the names of rows take.
    pub(super) fn side(&self) -> usize {
        self.rows.iter().map(|name| width(name)).max().unwrap_or(0)
    }

    /// The columns of a terminal that a column's widest number takes, and its widest marks.
    pub(super) fn widths(&self, column: usize) -> [usize; 2] {
        let rows = || 0..self.rows.len();
        let numbers = rows().map(|row| width(&self.number(row, column)));
        let marks = rows().map(|row| width(&self.marks(row, column)));
        [numbers.max().unwrap_or(0), marks.max().unwrap_or(0)]
    }

    /// The number of a cell.
    pub(super) fn number(&self, row: usize, column: usize) -> String {
        let value = self.table.values[row * self.table.columns.len() + column];
        if value == f32::NEG_INFINITY {
            "−∞".to_owned()
        } else if value.abs() >= 1e7 {
            format!("{value:.DECIMALS$e}")
        } else {
            minus(&format!("{value:.*}", self.decimals))
        }
    }

    /// The share of a cell's shade, where there is one.
    pub(super) fn share(&self, row: usize, column: usize) -> Option<f32> {
        let value = self.table.values[row * self.table.columns.len() + column];
        self.table.shaded.then(|| value.clamp(0.0, 1.0))
    }

    /// What a document prints for a cell.
    pub(super) fn printed(&self, row: usize, column: usize) -> impl Iterator<Item = &'a Printed> {
        let printed = self.table.printed.iter();
        printed.filter(move |printed| printed.row == row && printed.column == column)
    }

    /// The same, as text.
    pub(super) fn marks(&self, row: usize, column: usize) -> String {
        let marks: Vec<String> = self.printed(row, column).map(mark).collect();
        marks.join(" ")
    }
}

/// `=0.42` or `≠0.42`.
pub(super) fn mark(printed: &Printed) -> String {
    let sign = if printed.differs { '≠' } else { '=' };
    if printed.value == f64::NEG_INFINITY {
        return format!("{sign}−∞");
    }
    let number = format!("{:.*}", printed.decimals, printed.value);
    format!("{sign}{}", minus(&number))
}

/// With a minus sign as wide as a plus sign, and none before zero.
fn minus(number: &str) -> String {
    let digits = number.trim_start_matches('-');
    if digits.chars().all(|digit| matches!(digit, '0' | '.')) {
        return digits.to_owned();
    }
    number.replace('-', "−")
}

/// The widest name of a row or column, in columns of a terminal.
const MOST_NAME: usize = 24;

/// Names, with those that would push a table apart cut short.
fn short(names: &[String]) -> Vec<String> {
    let short = |name: &String| {
        if width(name) <= MOST_NAME {
            return name.clone();
        }
        let mut start = String::new();
        for character in name.chars() {
            start.push(character);
            if width(&start) >= MOST_NAME {
                start.pop();
                break;
            }
        }
        start + "…"
    };
    names.iter().map(short).collect()
}

/// Columns that text takes in a terminal.
pub(super) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Text, with blanks before it up to a width.
pub(super) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Text, with blanks after it up to a width.
pub(super) fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Text in lines of at most some columns, broken between words.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
