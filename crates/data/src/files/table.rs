//! A dataset file as it stands there: its columns, and rows of cells. Samples are made from it.

use super::error::FileError;
use super::rows::{Place, Rows};

/// A dataset file that was read.
#[derive(Debug)]
pub struct SampleTable {
    /// What messages call the file.
    pub(super) name: String,
    pub(super) form: Form,
    /// The names of its columns, in the order in which they first appear.
    pub(super) columns: Vec<String>,
    /// What all cells hold, one after the other.
    text: String,
    cells: Vec<Stored>,
    rows: Vec<Row>,
}

/// How a file holds its samples.
#[derive(Debug)]
pub(super) enum Form {
    /// Cells between separators.
    Cells {
        separator: u8,
        /// Whether the file begins with a byte order mark.
        is_marked: bool,
        /// The line of the names of the columns.
        header: u32,
    },
    /// A JSON object per line, whose keys are columns; and the lines as they are, one for each row.
    Objects(Vec<String>),
    /// A text or token ids per line.
    Lines,
    /// Arrays, which have no columns.
    Arrays(Box<Rows>),
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellKind {
    /// JSON's null.
    Null,
    /// A text; without quotes in CSV, it may be a number.
    Text,
    /// A number, true or false of JSON.
    Plain,
    /// A list or an object of JSON, as JSON.
    Nested,
}

/// A cell of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<'a> {
    pub(super) column: usize,
    pub(super) kind: CellKind,
    pub(super) text: &'a str,
}

// A file of at most 1 GiB has fewer characters, cells and lines than 2^32.
#[derive(Debug)]
struct Stored {
    column: u32,
    kind: CellKind,
    start: u32,
    end: u32,
}

#[derive(Debug)]
struct Row {
    line: u32,
    /// The index of its first cell.
    start: u32,
}

impl SampleTable {
    pub(super) fn new(name: &str, form: Form, columns: Vec<String>) -> Self {
        Self {
            name: name.to_owned(),
            form,
            columns,
            text: String::new(),
            cells: Vec::new(),
            rows: Vec::new(),
        }
    }

    pub(super) fn begin_row(&mut self, line: u32) {
        let start = self.cells.len() as u32;
        self.rows.push(Row { line, start });
    }

    /// Appends a cell to the last row.
    pub(super) fn push(&mut self, column: usize, kind: CellKind, text: &str) {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        self.cells.push(Stored {
            column: column as u32,
            kind,
            start,
            end: self.text.len() as u32,
        });
    }

    /// Sorts the cells of the last row by their columns. Returns one that has two cells.
    pub(super) fn sort_row(&mut self) -> Option<&str> {
        let start = self.rows.last().map_or(0, |row| row.start as usize);
        let cells = &mut self.cells[start..];
        cells.sort_unstable_by_key(|cell| cell.column);
        let twice = cells
            .windows(2)
            .find(|pair| pair[0].column == pair[1].column)?;
        Some(&self.columns[twice[0].column as usize])
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it is a text file, whose lines are texts or token ids.
    pub fn is_of_lines(&self) -> bool {
        matches!(self.form, Form::Lines)
    }

    /// Whether its cells stand in columns that have names.
    pub fn has_columns(&self) -> bool {
        matches!(self.form, Form::Cells { .. } | Form::Objects(_))
    }

    /// The names of its columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// What separates the cells of a CSV file, and whether it begins with a byte order mark; `None` of another file.
    pub fn separator(&self) -> Option<(u8, bool)> {
        match self.form {
            Form::Cells {
                separator,
                is_marked,
                ..
            } => Some((separator, is_marked)),
            Form::Objects(_) | Form::Lines | Form::Arrays(_) => None,
        }
    }

    /// The lines of a file of objects, one for each row; `None` of another file.
    pub fn objects(&self) -> Option<&[String]> {
        match &self.form {
            Form::Objects(lines) => Some(lines),
            Form::Cells { .. } | Form::Lines | Form::Arrays(_) => None,
        }
    }

    /// The cells of a row, as they are written. A short row has fewer of them than columns.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn texts(&self, row: usize) -> impl Iterator<Item = &str> {
        self.cells(row).map(|cell| cell.text)
    }

    /// The cells of a row, in the order of their columns.
    pub(super) fn cells(&self, row: usize) -> impl Iterator<Item = Cell<'_>> {
        self.stored(row).iter().map(|cell| self.cell_of(cell))
    }

    /// The cell of a row in a column, if there is one.
    pub(super) fn cell(&self, row: usize, column: usize) -> Option<Cell<'_>> {
        let cells = self.stored(row);
        let found = cells.binary_search_by_key(&column, |cell| cell.column as usize);
        found.ok().map(|found| self.cell_of(&cells[found]))
    }

    fn cell_of(&self, cell: &Stored) -> Cell<'_> {
        Cell {
            column: cell.column as usize,
            kind: cell.kind,
            text: &self.text[cell.start as usize..cell.end as usize],
        }
    }

    fn stored(&self, row: usize) -> &[Stored] {
        let start = self.rows[row].start as usize;
        let end = self.rows.get(row + 1);
        let end = end.map_or(self.cells.len(), |next| next.start as usize);
        &self.cells[start..end]
    }

    pub(super) fn place(&self, row: usize) -> Place {
        Place::Line(self.rows[row].line)
    }

    /// The column of a name: the one that is written so, or else, apart from JSON, the only one that differs from it in
    /// case alone.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let position = |name| self.columns.iter().position(|found| found == name);
        if let Form::Objects(_) = self.form {
            return position(name);
        }
        let name = name.trim();
        if let Some(exact) = position(name) {
            return Some(exact);
        }
        let mut like = self
            .columns
            .iter()
            .enumerate()
            .filter(|(_, found)| found.eq_ignore_ascii_case(name));
        match (like.next(), like.next()) {
            (Some((only, _)), None) => Some(only),
            _ => None,
        }
    }

    /// The names of its columns, for the end of a message.
    pub(super) fn listed(&self) -> String {
        format!("its columns are {}", listed(&self.columns))
    }

    pub(super) fn refuse(&self, message: impl Into<String>) -> FileError {
        FileError::new(&self.name, message)
    }
}

/// The most columns that a message names.
const MAX_LISTED_COLUMNS: usize = 12;

/// The names of columns, for messages.
pub(super) fn listed(names: &[impl AsRef<str>]) -> String {
    let shown = names.iter().take(MAX_LISTED_COLUMNS);
    let mut shown: Vec<String> = shown.map(|name| format!("`{}`", name.as_ref())).collect();
    if names.len() > MAX_LISTED_COLUMNS {
        shown.push(format!("and {} more", names.len() - MAX_LISTED_COLUMNS));
    }
    shown.join(", ")
}
