//! A page in a terminal.

use std::fmt::Write;

use super::cells::{Cells, left, right, width, wrap};
use super::{LEGEND, Page, Table};
use crate::ColourMode;
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
    let (shown, rest) = table.fitting();
    let columns: Vec<Column> = (0..shown).map(|index| Column::of(&cells, index)).collect();
    let _ = writeln!(text, "{}: {}", table.title, table.how);
    let mut remaining = columns.as_slice();
    while !remaining.is_empty() {
        let mut used = cells.side();
        let fit = remaining.iter().take_while(|column| {
            used += 2 + column.width();
            used <= options.width
        });
        let (block, below) = remaining.split_at(fit.count().max(1));
        draw_block(text, &cells, block, options.colour);
        remaining = below;
    }
    for note in rest.iter().chain(&table.notes) {
        let lines = wrap(note, options.width.min(MOST_TEXT).saturating_sub(4));
        for (index, line) in lines.iter().enumerate() {
            let bullet = if index == 0 { "  · " } else { "    " };
            let _ = writeln!(text, "{bullet}{line}");
        }
    }
}

/// Draws all rows of some columns.
fn draw_block(text: &mut String, cells: &Cells<'_>, columns: &[Column], colour: ColourMode) {
    let side = cells.side();
    let mut header = " ".repeat(side);
    for column in columns {
        // Over the numbers, not over the marks after them.
        let name = right(&cells.columns[column.index], column.number);
        let _ = write!(header, "  {}", left(&name, column.width()));
    }
    let _ = writeln!(text, "{}", header.trim_end());
    for (row, name) in cells.rows.iter().enumerate() {
        let mut line = right(name, side);
        for column in columns {
            let number = right(&cells.number(row, column.index), column.number);
            let (on, off) = match cells.share(row, column.index) {
                Some(share) => (start(share, colour), end(colour)),
                None => (String::new(), ""),
            };
            let _ = write!(line, "  {on}{number}{off}");
            if column.marks > 0 {
                let marks = cells.marks(row, column.index);
                let _ = write!(line, " {}", left(&marks, column.marks - 1));
            }
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// A column and how wide its parts are.
struct Column {
    index: usize,
    number: usize,
    /// What is printed, with the blank before it.
    marks: usize,
}

impl Column {
    fn of(cells: &Cells<'_>, index: usize) -> Self {
        let [number, marks] = cells.widths(index);
        let marks = if marks == 0 { 0 } else { marks + 1 };
        // The name stands over both.
        let name = width(&cells.columns[index]).saturating_sub(marks);
        Self {
            index,
            number: number.max(name),
            marks,
        }
    }

    fn width(&self) -> usize {
        self.number + self.marks
    }
}
