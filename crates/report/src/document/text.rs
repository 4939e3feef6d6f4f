//! A document in a terminal.

use std::fmt::Write;

use super::table::{Column, MAX_NAME_COLUMNS};
use super::{Document, Listing, Table};
use crate::ColourMode;
use crate::terminal::Options;
use crate::words::{fitted_names, left, right, say, width, wrap};

/// Text is at most this wide, however wide the terminal is.
const MAX_TEXT_COLUMNS: usize = 100;

impl Document {
    /// The document as text, with aligned columns.
    pub fn text(&self, options: Options) -> String {
        let columns = options.width.min(MAX_TEXT_COLUMNS);
        let underline = |title: &str, line: &str| line.repeat(width(title).min(columns));
        let mut text = format!("{}\n{}\n", self.title, underline(&self.title, "═"));
        paragraphs(&mut text, &self.paragraphs, columns);
        paragraphs(&mut text, self.legend(), columns);
        for section in &self.sections {
            let title = &section.title;
            if !title.is_empty() {
                let _ = writeln!(text, "\n{title}\n{}", underline(title, "─"));
            } else if !section.paragraphs.is_empty() {
                text.push('\n');
            }
            paragraphs(&mut text, &section.paragraphs, columns);
            for table in &section.tables {
                text.push('\n');
                text += &table.text(options);
            }
            for listing in &section.listings {
                text.push('\n');
                listing.text(&mut text, columns);
            }
            for plot in section.plots.iter().filter_map(|plot| plot.text(columns)) {
                let _ = write!(text, "\n{plot}");
            }
        }
        text
    }
}

fn paragraphs<P: AsRef<str>>(
    text: &mut String,
    paragraphs: impl IntoIterator<Item = P>,
    columns: usize,
) {
    for paragraph in paragraphs {
        say(text, paragraph.as_ref(), columns);
    }
}

impl Table {
    /// The table as text. Columns that do not fit beside the others stand below them, with the names of rows again.
    pub fn text(&self, options: Options) -> String {
        let mut text = String::new();
        let columns: Vec<Column> = self.layout().collect();
        let names: Vec<&str> = self.rows.iter().map(|row| &*row.name).collect();
        let names = fitted_names(&names, MAX_NAME_COLUMNS.max(options.width / 2));
        let names_and_corner = names.iter().flatten().chain([&self.corner]);
        let side = names_and_corner.map(|name| width(name)).max().unwrap_or(0);
        paragraphs(
            &mut text,
            [self.caption()],
            options.width.min(MAX_TEXT_COLUMNS),
        );
        let mut remaining = columns.as_slice();
        while !remaining.is_empty() {
            let mut used = side;
            let fit = remaining.iter().take_while(|column| {
                used += 2 + column.width();
                used <= options.width
            });
            let (block, below) = remaining.split_at(fit.count().max(1));
            self.block(&mut text, &names, side, block, options.colour);
            remaining = below;
        }
        for note in &self.notes {
            let lines = wrap(note, options.width.min(MAX_TEXT_COLUMNS).saturating_sub(4));
            for (index, line) in lines.iter().enumerate() {
                let bullet = if index == 0 { "  · " } else { "    " };
                let _ = writeln!(text, "{bullet}{line}");
            }
        }
        text
    }

    /// All rows of some columns.
    fn block(
        &self,
        text: &mut String,
        names: &[Vec<String>],
        side: usize,
        columns: &[Column],
        colour: ColourMode,
    ) {
        let pad = if self.has_left_names { left } else { right };
        let in_side = |name: &str| pad(name, side);
        let most = columns.iter().map(|column| column.lines.len()).max();
        // Counted from the last line, which stands over the numbers.
        for from_end in (0..most.unwrap_or(1)).rev() {
            let corner = if from_end == 0 { &*self.corner } else { "" };
            let mut header = in_side(corner);
            for column in columns {
                // Over the numbers, not over the marks after them.
                let line = column.lines.iter().nth_back(from_end);
                let name = column.padded(line.map_or("", String::as_str));
                let _ = write!(header, "  {}", left(&name, column.width()));
            }
            let _ = writeln!(text, "{}", header.trim_end());
        }
        for (row, name) in self.rows.iter().zip(names) {
            let (last, before) = name.split_last().unzip();
            for line in before.into_iter().flatten() {
                let _ = writeln!(text, "{}", in_side(line).trim_end());
            }
            let mut line = in_side(last.map_or("", String::as_str));
            for column in columns {
                let Some(cell) = row.cells.get(column.index) else {
                    continue;
                };
                let number = column.padded(&cell.text);
                let number = cell
                    .share
                    .map_or(number.clone(), |share| colour.paint(share, &number));
                let _ = write!(line, "  {number}");
                if column.marks > 0 {
                    let _ = write!(line, " {}", left(&cell.marks_text(), column.marks - 1));
                }
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
}

impl Listing {
    fn text(&self, text: &mut String, columns: usize) {
        paragraphs(text, [&self.title], columns);
        for line in &self.lines {
            let _ = writeln!(text, "{line}");
        }
    }
}
