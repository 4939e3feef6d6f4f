//! What many runs come to, in words, tables and pictures: for a terminal, as a picture, as a page.

use std::fmt::Write;

use crate::Histogram;
use crate::distribution::{self, Panel, svg};
use crate::markup::{escape, still_page};
use crate::page::STYLE;

/// Words, tables and pictures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// What it is of.
    pub title: String,
    /// What is to be said first, a paragraph each.
    pub words: Vec<String>,
    /// Its tables.
    pub tables: Vec<Cells>,
    /// Its pictures. A terminal shows the histograms among them.
    pub panels: Vec<Panel>,
}

/// A table of text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    /// What it holds; empty where that is plain.
    pub title: String,
    /// How its numbers come about.
    pub how: String,
    /// The header, and then rows of as many cells, the first of which is a name.
    pub rows: Vec<Vec<String>>,
}

impl Sheet {
    /// The sheet as text, for so many columns; its tables are Markdown.
    pub fn text(&self, columns: usize) -> String {
        let mut text = String::new();
        for paragraph in &self.words {
            let _ = writeln!(text, "{paragraph}");
        }
        for table in &self.tables {
            text.push('\n');
            let stop = if table.how.is_empty() { "" } else { ": " };
            if !table.title.is_empty() {
                let _ = writeln!(text, "{}{stop}{}\n", table.title, table.how);
            }
            text.push_str(&table.aligned());
        }
        for panel in &self.panels {
            if let Panel::Histogram { label, values, .. } = panel
                && let Some(histogram) = Histogram::of(values)
            {
                let _ = write!(text, "\n{label}\n{}", histogram.draw(columns));
            }
        }
        text
    }

    /// The pictures as one.
    pub fn svg(&self) -> String {
        svg(&self.title, &self.panels)
    }

    /// All of it as a page, for any browser, without a network or a script.
    pub fn html(&self) -> String {
        let mut text = still_page(&self.title, STYLE, &[distribution::STYLE]);
        for paragraph in &self.words {
            let _ = writeln!(text, "<p>{}</p>", escape(paragraph));
        }
        text.push_str("<section>\n");
        text.push_str(&self.svg());
        text.push_str("</section>\n<section>\n<div class=\"tables\">\n");
        for table in &self.tables {
            table.html(&mut text);
        }
        text.push_str("</div>\n</section>\n</body>\n</html>\n");
        text
    }
}

impl Cells {
    /// A Markdown table that is aligned as plain text, numbers to the right.
    fn aligned(&self) -> String {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(|column| width(column).max(2)).collect();
        let mut text = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                // What a file holds neither ends a line nor a cell.
                let cell = cell.replace('|', "/").replace(char::is_control, "\u{fffd}");
                let _ = match column {
                    0 => write!(text, "| {cell:width$} |"),
                    _ => write!(text, " {cell:>width$} |"),
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
        text
    }

    fn html(&self, text: &mut String) {
        let name = if self.title.is_empty() {
            "All runs"
        } else {
            &self.title
        };
        let name = escape(name);
        let _ = writeln!(
            text,
            "<figure>\n<figcaption><b>{name}</b> <span class=\"how\">{}</span></figcaption>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">\n<table>",
            escape(&self.how)
        );
        for (index, row) in self.rows.iter().enumerate() {
            text.push_str("<tr>");
            for (column, cell) in row.iter().enumerate() {
                let cell = escape(cell);
                let _ = match (index, column) {
                    (0, 0) if cell.is_empty() => write!(text, "<td class=\"corner\"></td>"),
                    (0, _) => write!(text, "<th scope=\"col\">{cell}</th>"),
                    (_, 0) => write!(text, "<th scope=\"row\">{cell}</th>"),
                    _ => write!(text, "<td>{cell}</td>"),
                };
            }
            text.push_str("</tr>\n");
        }
        text.push_str("</table>\n</div>\n</figure>\n");
    }
}
