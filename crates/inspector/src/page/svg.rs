//! A page as an SVG picture.

use std::fmt::Write;

use super::cells::{Cells, mark, width, wrap};
use super::{LEGEND, Page, Table};
use crate::markup::escape;

/// Height of a line, width of a character of the monospaced type, and of a terminal's column of the
/// proportional one.
const LINE: f64 = 20.0;
const CHARACTER: f64 = 7.9;
const PROPORTIONAL: f64 = 7.0;

/// Room around the page, and on either side of a cell's text.
const MARGIN: f64 = 20.0;
const PADDING: f64 = 8.0;

/// Columns of text.
const TEXT: usize = 96;

const STYLE: &str = "
  svg { background: #fff; font: 13px system-ui, sans-serif; fill: #1d1d1f }
  .title { font-size: 18px; font-weight: 600 } .heading { font-size: 15px; font-weight: 600 }
  .cells { font: 13px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace }
  .name, .same { fill: #5c5c63 } .strong { font-weight: 600 }
  .shade { fill: #86b8ea } .cell { fill: none; stroke: #d5d5da }
  .differs { fill: #a8215f; font-weight: 600 } .wrong { fill: #fbe3ee; stroke: #a8215f }
  .end { text-anchor: end }
  @media (prefers-color-scheme: dark) {
    svg { background: #151517; fill: #ececf0 } .name, .same { fill: #a9a9b2 } .cell { stroke: #3a3a40 }
    .shade { fill: #1f5d99 } .differs { fill: #ff9ac2 } .wrong { fill: #44182c; stroke: #ff9ac2 }
  }
";

impl Page {
    /// The page as an SVG picture, its tables below one another.
    pub fn svg(&self) -> String {
        let mut sheet = Sheet {
            text: String::new(),
            y: MARGIN,
            width: TEXT as f64 * PROPORTIONAL,
        };
        sheet.y += 8.0;
        sheet.line("title", &self.title);
        sheet.paragraphs(&self.paragraphs);
        if self.has_printed() {
            sheet.wrapped("name", LEGEND);
        }
        for section in &self.sections {
            if !section.title.is_empty() {
                sheet.y += LINE;
                sheet.line("heading", &section.title);
            }
            sheet.paragraphs(&section.paragraphs);
            for table in &section.tables {
                sheet.y += LINE / 2.0;
                sheet.table(table);
            }
        }
        let title = escape(&self.title);
        let (width, height) = (sheet.width + 2.0 * MARGIN, sheet.y + MARGIN);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{title}\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n{}</svg>\n",
            sheet.text
        )
    }
}

/// What is drawn so far.
struct Sheet {
    text: String,
    /// Where the next line's top is.
    y: f64,
    /// Width of what is drawn, without margins.
    width: f64,
}

impl Sheet {
    fn line(&mut self, class: &str, line: &str) {
        let y = self.y + 14.0;
        let _ = writeln!(
            self.text,
            r#"<text class="{class}" x="{MARGIN}" y="{y}">{}</text>"#,
            escape(line)
        );
        self.y += LINE;
    }

    fn wrapped(&mut self, class: &str, text: &str) {
        for line in wrap(text, TEXT) {
            self.line(class, &line);
        }
    }

    fn paragraphs(&mut self, paragraphs: &[String]) {
        for paragraph in paragraphs {
            self.wrapped("", paragraph);
        }
    }

    fn table(&mut self, table: &Table) {
        let cells = Cells::of(table);
        let (shown, rest) = table.fitting();
        let y = self.y + 14.0;
        let _ = writeln!(
            self.text,
            r#"<text x="{MARGIN}" y="{y}"><tspan class="strong">{}</tspan> <tspan class="name">{}</tspan></text>"#,
            escape(&table.title),
            escape(&table.how)
        );
        self.y += LINE;
        let mut x = MARGIN + cells.side() as f64 * CHARACTER + PADDING;
        self.text.push_str("<g class=\"cells\">\n");
        for (row, name) in cells.rows.iter().enumerate() {
            let baseline = self.baseline(row + 1);
            self.end("name", x - PADDING, baseline, name);
        }
        for column in 0..shown {
            x += self.column(&cells, column, x);
        }
        self.text.push_str("</g>\n");
        self.width = self.width.max(x - MARGIN);
        self.y += (table.rows.len() + 1) as f64 * LINE + 4.0;
        for note in rest.iter().chain(&table.notes) {
            self.wrapped("", &format!("· {note}"));
        }
    }

    /// Draws a column whose left edge is at `x`; returns its width.
    fn column(&mut self, cells: &Cells<'_>, column: usize, x: f64) -> f64 {
        let name = &cells.columns[column];
        let [number, marks] = cells.widths(column);
        let marks = if marks == 0 { 0 } else { marks + 1 };
        // The name stands over both, ending where numbers do if it can.
        let number = number.max(width(name).saturating_sub(marks));
        let wide = (number + marks) as f64 * CHARACTER + 2.0 * PADDING;
        let right = x + PADDING + number as f64 * CHARACTER;
        let over = x + PADDING + number.max(width(name)) as f64 * CHARACTER;
        let header = self.baseline(0);
        self.end("name", over, header, name);
        for row in 0..cells.rows.len() {
            let (top, baseline) = (self.y + (row + 1) as f64 * LINE, self.baseline(row + 1));
            if let Some(share) = cells.share(row, column) {
                let _ = writeln!(
                    self.text,
                    r#"<rect class="shade" fill-opacity="{share:.2}" x="{x:.1}" y="{top}" width="{wide:.1}" height="{LINE}"/>"#
                );
            }
            let _ = writeln!(
                self.text,
                r#"<rect class="cell" x="{x:.1}" y="{top}" width="{wide:.1}" height="{LINE}"/>"#
            );
            self.end("", right, baseline, &cells.number(row, column));
            let mut at = right + CHARACTER;
            for printed in cells.printed(row, column) {
                let text = mark(printed);
                let room = width(&text) as f64 * CHARACTER;
                let class = if printed.differs { "differs" } else { "same" };
                if printed.differs {
                    let _ = writeln!(
                        self.text,
                        r#"<rect class="wrong" x="{:.1}" y="{}" width="{:.1}" height="{}" rx="3"/>"#,
                        at - 2.0,
                        top + 2.0,
                        room + 4.0,
                        LINE - 4.0
                    );
                }
                let _ = writeln!(
                    self.text,
                    r#"<text class="{class}" x="{at:.1}" y="{baseline}">{text}</text>"#
                );
                at += room + CHARACTER;
            }
        }
        wide
    }

    /// Where the text of a table's row stands; the header is row 0.
    fn baseline(&self, row: usize) -> f64 {
        self.y + row as f64 * LINE + 14.5
    }

    fn end(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let _ = writeln!(
            self.text,
            r#"<text class="end {class}" x="{x:.1}" y="{y}">{}</text>"#,
            escape(text)
        );
    }
}
