//! A table of text, and how wide its columns are.

use crate::words::{fitted_names, left, right, width};

/// The widest name of a row or column in text and SVG, in columns of a terminal. A wide terminal has room for longer
/// names of rows.
pub(super) const MAX_NAME_COLUMNS: usize = 24;

/// A table whose rows and columns have names. [`super::Numbers`] makes one of a matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub(super) title: String,
    /// How its values come about; may be empty.
    pub(super) how: String,
    /// Whether the names of rows begin at the left in text.
    pub(super) has_left_names: bool,
    /// The text above the names of rows.
    pub(super) corner: String,
    pub(super) columns: Vec<String>,
    /// The columns whose cells begin at the left; the others end at the right.
    pub(super) left_aligned: Vec<usize>,
    pub(super) rows: Vec<Row>,
    /// Sentences below the table.
    pub(super) notes: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) cells: Vec<Cell>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cell {
    pub(super) text: String,
    /// How strongly the cell is shaded, from 0 to 1.
    pub(super) share: Option<f32>,
    pub(super) marks: Vec<Mark>,
}

/// A number that a document prints, beside the cell's own.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    /// `=0.42` or `≠0.42`.
    pub(super) text: String,
    pub(super) differs: bool,
}

/// A column's alignment, and the widths of its parts in columns of a terminal.
pub(super) struct Column {
    pub(super) index: usize,
    /// Its name in lines, which differ wherever names do.
    pub(super) lines: Vec<String>,
    /// The cells' texts.
    pub(super) text: usize,
    /// The marks, with the blank before them.
    pub(super) marks: usize,
    pub(super) is_left_aligned: bool,
}

impl Table {
    /// A table without a title, from the names of its columns and its rows; first in each row is its name.
    pub fn of_rows(columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Self {
        let header = columns.iter().map(|&name| name.to_owned()).collect();
        Self::of_text("", "", [header].into_iter().chain(rows).collect())
    }

    /// A table from rows of equal length: first the header, and first in each row its name.
    pub fn of_text(title: &str, how: &str, rows: Vec<Vec<String>>) -> Self {
        let mut rows = rows.into_iter().map(|row| {
            let mut cells = row.into_iter();
            (cells.next().unwrap_or_default(), cells)
        });
        let (corner, columns) = rows.next().unwrap_or_default();
        let cell = |text| Cell {
            text,
            ..Cell::default()
        };
        Self {
            title: title.to_owned(),
            how: how.to_owned(),
            corner,
            columns: columns.collect(),
            rows: rows
                .map(|(name, cells)| Row {
                    name,
                    cells: cells.map(cell).collect(),
                })
                .collect(),
            ..Self::default()
        }
    }

    /// The table with a title.
    #[must_use]
    pub fn titled(mut self, title: String) -> Self {
        self.title = title;
        self
    }

    /// The table with the names of its rows aligned at the left, where text else aligns them at the right.
    #[must_use]
    pub fn with_left_names(mut self) -> Self {
        self.has_left_names = true;
        self
    }

    /// The table with these columns aligned at the left, since they hold text rather than numbers.
    #[must_use]
    pub fn left_aligned(mut self, names: &[&str]) -> Self {
        let columns = self.columns.iter().enumerate();
        let named = columns.filter(|(_, name)| names.contains(&name.as_str()));
        self.left_aligned = named.map(|(index, _)| index).collect();
        self
    }

    /// Whether a document's numbers stand beside its own.
    pub(super) fn is_marked(&self) -> bool {
        self.rows
            .iter()
            .flat_map(|row| &row.cells)
            .any(|cell| !cell.marks.is_empty())
    }

    /// The line above it in text.
    pub(super) fn caption(&self) -> String {
        let parts = [self.title.as_str(), &self.how];
        parts
            .map(str::trim)
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(": ")
    }

    pub(super) fn layout(&self) -> impl Iterator<Item = Column> {
        let names: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let lines = fitted_names(&names, MAX_NAME_COLUMNS).into_iter();
        lines.enumerate().map(|(index, lines)| {
            let cells = || self.rows.iter().filter_map(|row| row.cells.get(index));
            let text = cells().map(|cell| width(&cell.text)).max().unwrap_or(0);
            let marks = cells().map(|cell| width(&cell.marks_text())).max();
            let marks = marks
                .filter(|&marks| marks > 0)
                .map_or(0, |marks| marks + 1);
            // The name stands over both.
            let widest = lines.iter().map(|line| width(line)).max().unwrap_or(0);
            let text = text.max(widest.saturating_sub(marks));
            Column {
                index,
                lines,
                text,
                marks,
                is_left_aligned: self.left_aligned.contains(&index),
            }
        })
    }
}

impl Cell {
    pub(super) fn marks_text(&self) -> String {
        let marks: Vec<&str> = self.marks.iter().map(|mark| mark.text.as_str()).collect();
        marks.join(" ")
    }
}

impl Column {
    pub(super) fn width(&self) -> usize {
        self.text + self.marks
    }

    /// Pads a text to the width of the cells' texts.
    pub(super) fn padded(&self, text: &str) -> String {
        if self.is_left_aligned {
            left(text, self.text)
        } else {
            right(text, self.text)
        }
    }
}

/// At most `most` indices of a list, evenly spread, including the first and the last.
pub fn evenly_spread(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let shown = count.min(most);
    (0..shown).map(move |index| match shown {
        1 => 0,
        _ => index * (count - 1) / (shown - 1),
    })
}
