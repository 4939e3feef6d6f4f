//! A page in a terminal.

use std::fmt::Write;

use super::cells::{Cells, left, right, width, wrap};
use super::{LEGEND, Page, Table};
use crate::colour::{end, start};
use crate::terminal::Options;

/// Text is not wider than this, however wide the terminal is.
const MOST_TEXT: usize = 100;

impl Page {
    /// Draws the page as text, with aligned columns.
    pub fn text(&self, options: Options) -> String {
        let columns = options.width.min(MOST_TEXT);
        let mut text = format!("{}\n", self.title);
        let _ = writeln!(text, "{}", "═".repeat(width(&self.title).min(columns)));
        paragraphs(&mut text, &self.paragraphs, columns);
        if self.has_printed() {
            paragraphs(&mut text, &[LEGEND.to_owned()], columns);
        }
        for section in &self.sections {
            if !section.title.is_empty() {
                let _ = writeln!(text, "\n{}", section.title);
                let _ = writeln!(text, "{}", "─".repeat(width(&section.title).min(columns)));
            }
            paragraphs(&mut text, &section.paragraphs, columns);
            for table in &section.tables {
                text.push('\n');
                draw(&mut text, table, options);
            }
        }
        text
    }
}

fn paragraphs(text: &mut String, paragraphs: &[String], columns: usize) {
    for line in paragraphs
        .iter()
        .flat_map(|paragraph| wrap(paragraph, columns))
    {
        let _ = writeln!(text, "{line}");
    }
}

/// Columns that do not fit beside one another stand below, with the rows' names again.
fn draw(text: &mut String, table: &Table, options: Options) {
    let cells = Cells::of(table);
    let side = table.rows.iter().map(|name| width(name)).max().unwrap_or(0);
    let (shown, rest) = table.fitting();
    let columns: Vec<Column> = (0..shown)
        .map(|column| Column::of(table, &cells, column))
        .collect();
    let _ = writeln!(text, "{}: {}", table.title, table.how);
    let mut from = 0;
    while from < shown {
        let mut used = side;
        let fit = columns[from..].iter().take_while(|column| {
            used += 2 + column.width();
            used <= options.width
        });
        let to = from + fit.count().max(1);
        block(
            text,
            table,
            &cells,
            side,
            (from, &columns[from..to]),
            options,
        );
        from = to;
    }
    for note in rest.iter().chain(&table.notes) {
        let lines = wrap(note, options.width.min(MOST_TEXT).saturating_sub(4));
        for (index, line) in lines.iter().enumerate() {
            let bullet = if index == 0 { "  · " } else { "    " };
            let _ = writeln!(text, "{bullet}{line}");
        }
    }
}

/// Draws all rows of some columns, which begin at the column `first`.
fn block(
    text: &mut String,
    table: &Table,
    cells: &Cells<'_>,
    side: usize,
    (first, columns): (usize, &[Column]),
    options: Options,
) {
    let mut header = " ".repeat(side);
    for (name, column) in table.columns[first..].iter().zip(columns) {
        // Over the numbers, not over the marks after them.
        let name = left(&right(name, column.number), column.width());
        let _ = write!(header, "  {name}");
    }
    let _ = writeln!(text, "{}", header.trim_end());
    for (row, name) in table.rows.iter().enumerate() {
        let mut line = right(name, side);
        for (index, column) in (first..).zip(columns) {
            let number = right(&cells.number(row, index), column.number);
            let (on, off) = match cells.share(row, index) {
                Some(share) => (start(share, options.colour), end(options.colour)),
                None => (String::new(), ""),
            };
            let _ = write!(line, "  {on}{number}{off}");
            let marks = match column.marks {
                0 => String::new(),
                _ => format!(" {}", cells.marks(row, index)),
            };
            line.push_str(&left(&marks, column.marks));
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// How wide the parts of a column are.
struct Column {
    number: usize,
    /// What is printed, with the blank before it.
    marks: usize,
}

impl Column {
    fn of(table: &Table, cells: &Cells<'_>, column: usize) -> Self {
        let rows = || 0..table.rows.len();
        let numbers = rows().map(|row| width(&cells.number(row, column)));
        let marks = rows().map(|row| width(&cells.marks(row, column)));
        let marks = match marks.max().unwrap_or(0) {
            0 => 0,
            marks => marks + 1,
        };
        // The name stands over both.
        let name = width(&table.columns[column]).saturating_sub(marks);
        Self {
            number: numbers.max().unwrap_or(0).max(name),
            marks,
        }
    }

    fn width(&self) -> usize {
        self.number + self.marks
    }
}
