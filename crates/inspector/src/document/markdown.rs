//! A document as Markdown whose tables are also aligned as plain text.

use std::fmt::Write;

use super::{Document, Table};
use crate::words::{left, right, width};

impl Document {
    /// The document as Markdown, without its title. Histograms are drawn for a terminal of `columns`.
    pub fn markdown(&self, columns: usize) -> String {
        let mut text = String::new();
        for paragraph in &self.paragraphs {
            let _ = writeln!(text, "{paragraph}");
        }
        for section in &self.sections {
            if !section.title.is_empty() {
                let _ = writeln!(text, "\n## {}\n", section.title);
            }
            for paragraph in &section.paragraphs {
                let _ = writeln!(text, "{paragraph}");
            }
            for table in &section.tables {
                text.push('\n');
                table.markdown(&mut text);
            }
            for plot in section.plots.iter().filter_map(|plot| plot.text(columns)) {
                let _ = write!(text, "\n{plot}");
            }
        }
        text
    }
}

impl Table {
    fn markdown(&self, text: &mut String) {
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
        let widest = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| width(cell)).max().unwrap_or(0).max(2)
        };
        let widths: Vec<usize> = (0..rows[0].len()).map(widest).collect();
        for (index, row) in rows.iter().enumerate() {
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let _ = match column {
                    0 => write!(text, "| {} |", left(cell, width)),
                    _ => write!(text, " {} |", right(cell, width)),
                };
            }
            text.push('\n');
            if index == 0 {
                for (column, &width) in widths.iter().enumerate() {
                    let dashes = "-".repeat(width + 1);
                    let _ = match column {
                        0 => write!(text, "|{dashes}-|"),
                        _ => write!(text, "{dashes}:|"),
                    };
                }
                text.push('\n');
            }
        }
    }
}

/// Text that ends neither a line nor a cell.
fn plain(text: &str) -> String {
    text.replace('|', "/").replace(char::is_control, "\u{fffd}")
}
