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
}

impl<'a> Cells<'a> {
    pub(super) fn of(table: &'a Table) -> Self {
        let exact = (0..DECIMALS).find(|&decimals| {
            let unit = 10_f64.powi(decimals as i32);
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
        Self { table, decimals }
    }

    /// The number of a cell.
    pub(super) fn number(&self, row: usize, column: usize) -> String {
        let value = self.table.values[row * self.table.columns.len() + column];
        if value == f32::NEG_INFINITY {
            "−∞".to_owned()
        } else if value.abs() >= 1e7 {
            format!("{value:.*e}", DECIMALS)
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
