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

fn draw(text: &mut String, table: &Table, options: Options) {
    let cells = Cells::of(table);
    let side = table.rows.iter().map(|name| width(name)).max().unwrap_or(0);
    let widths: Vec<Column> = (0..table.columns.len())
        .map(|column| Column::of(table, &cells, column))
        .collect();
    let mut used = side;
    let fit = widths
        .iter()
        .take_while(|column| {
            used += 2 + column.width();
            used <= options.width
        })
        .count();
    let (shown, rest) = table.fitting(fit);

    let _ = writeln!(text, "{}: {}", table.title, table.how);
    let mut header = " ".repeat(side);
    for (name, column) in table.columns.iter().zip(&widths).take(shown) {
        // Over the numbers, not over the marks after them.
        let name = left(&right(name, column.number), column.width());
        let _ = write!(header, "  {name}");
    }
    let _ = writeln!(text, "{}", header.trim_end());
    for (row, name) in table.rows.iter().enumerate() {
        let mut line = right(name, side);
        for (index, column) in widths.iter().enumerate().take(shown) {
            let number = right(&cells.number(row, index), column.number);
            let shade = cells.share(row, index);
            let (on, off) = match shade {
                Some(share) => (start(share, options.colour), end(options.colour)),
                None => (String::new(), ""),
            };
            let _ = write!(line, "  {on}{number}{off}");
            if column.marks > 0 {
                let _ = write!(line, " {}", left(&cells.marks(row, index), column.marks));
            }
            let beyond = column.width() - column.inner();
            line.push_str(&" ".repeat(beyond));
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    for note in rest.iter().chain(&table.notes) {
        for (index, line) in wrap(note, options.width.min(MOST_TEXT).saturating_sub(4))
            .iter()
            .enumerate()
        {
            let bullet = if index == 0 { "  · " } else { "    " };
            let _ = writeln!(text, "{bullet}{line}");
        }
    }
}

/// How wide the parts of a column are.
struct Column {
    number: usize,
    marks: usize,
    name: usize,
}

impl Column {
    fn of(table: &Table, cells: &Cells<'_>, column: usize) -> Self {
        let rows = || 0..table.rows.len();
        let widest = |text: &dyn Fn(usize) -> String| rows().map(|row| width(&text(row))).max();
        Self {
            number: widest(&|row| cells.number(row, column)).unwrap_or(0),
            marks: widest(&|row| cells.marks(row, column)).unwrap_or(0),
            name: width(&table.columns[column]),
        }
    }

    /// Of number and marks.
    fn inner(&self) -> usize {
        match self.marks {
            0 => self.number,
            marks => self.number + 1 + marks,
        }
    }

    fn width(&self) -> usize {
        self.inner().max(self.name)
    }
}
