//! A document as Markdown whose tables are also aligned as plain text.

use std::fmt::Write;

use super::{Document, Listing, Section, Table};
use crate::words::{left, right, width};

/// A column of text that is wider than this is not aligned: its blanks would fill several lines of a terminal.
const MAX_ALIGNED_COLUMNS: usize = 100;

impl Document {
    /// The document as Markdown, without its title. Histograms are drawn for a terminal of `columns`.
    pub fn markdown(&self, columns: usize) -> String {
        let mut blocks = Vec::new();
        if !self.paragraphs.is_empty() {
            blocks.push(lines(&self.paragraphs));
        }
        for section in &self.sections {
            section.markdown(columns, &mut blocks);
        }
        blocks.join("\n")
    }

    /// The document as a Markdown file, which begins with its title.
    pub fn markdown_file(&self, columns: usize) -> String {
        format!("# {}\n\n{}", self.title, self.markdown(columns))
    }
}

impl Section {
    /// Adds its blocks, which a blank line separates.
    fn markdown(&self, columns: usize, blocks: &mut Vec<String>) {
        if !self.title.is_empty() {
            blocks.push(format!("## {}\n", self.title));
        }
        if !self.paragraphs.is_empty() {
            blocks.push(lines(&self.paragraphs));
        }
        blocks.extend(self.tables.iter().map(Table::markdown));
        blocks.extend(self.listings.iter().map(Listing::markdown));
        blocks.extend(self.plots.iter().filter_map(|plot| plot.text(columns)));
    }
}

impl Table {
    fn markdown(&self) -> String {
        let mut text = String::new();
        let caption = self.caption();
        if !caption.is_empty() {
            let _ = writeln!(text, "{caption}\n");
        }
        let header = [&self.corner].into_iter().chain(&self.columns);
        let header: Vec<String> = header.map(|name| plain(name)).collect();
        let rows = self.rows.iter().map(|row| {
            let cells = row.cells.iter().map(|cell| {
                let marks = cell.marks_text();
                plain(format!("{} {marks}", cell.text).trim_end())
            });
            [plain(&row.name)].into_iter().chain(cells).collect()
        });
        let rows: Vec<Vec<String>> = [header].into_iter().chain(rows).collect();
        let is_left = |column: usize| column == 0 || self.left_aligned.contains(&(column - 1));
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let widest = cells.map(|cell| width(cell)).max().unwrap_or(0).max(2);
            match widest {
                MAX_ALIGNED_COLUMNS.. if column > 0 => 2,
                _ => widest,
            }
        };
        let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
        for (index, row) in rows.iter().enumerate() {
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let cell = if is_left(column) {
                    left(cell, width)
                } else {
                    right(cell, width)
                };
                let _ = write!(text, "| {cell} ");
            }
            text.push_str("|\n");
            if index == 0 {
                for (column, &width) in widths.iter().enumerate() {
                    let end = if is_left(column) { '-' } else { ':' };
                    let _ = write!(text, "|{}{end}", "-".repeat(width + 1));
                }
                text.push_str("|\n");
            }
        }
        text
    }
}

impl Listing {
    fn markdown(&self) -> String {
        let mut fence = "```".to_owned();
        while self.lines.iter().any(|line| line.contains(&fence)) {
            fence.push('`');
        }
        let block = format!("{fence}text\n{}{fence}\n", lines(&self.lines));
        match self.title.as_str() {
            "" => block,
            title => format!("{title}\n\n{block}"),
        }
    }
}

/// One line each.
fn lines(lines: &[String]) -> String {
    lines
        .iter()
        .fold(String::new(), |text, line| text + line + "\n")
}

/// Text that ends neither a line nor a cell.
fn plain(text: &str) -> String {
    text.replace('|', "\\|")
        .replace(char::is_control, "\u{fffd}")
}
