//! A page as HTML: one file that loads nothing and runs nothing.

use std::fmt::Write;

use super::cells::{Cells, mark};
use super::{LEGEND, Page, Table};
use crate::markup::{escape, still_page};

/// The page's whole style. A cell's shade is one of twenty classes, since the page allows no style
/// but this one.
pub(crate) const STYLE: &str = include_str!("style.css");

impl Page {
    /// The page as HTML, for any browser, without a network.
    pub fn html(&self) -> String {
        let mut text = still_page(&self.title, STYLE, &[]);
        paragraphs(&mut text, &self.paragraphs);
        if self.has_printed() {
            let _ = writeln!(text, r#"<p class="legend">{LEGEND}</p>"#);
        }
        for section in &self.sections {
            text.push_str("<section>\n");
            if !section.title.is_empty() {
                let _ = writeln!(text, "<h2>{}</h2>", escape(&section.title));
            }
            paragraphs(&mut text, &section.paragraphs);
            text.push_str("<div class=\"tables\">\n");
            for table in &section.tables {
                draw(&mut text, table);
            }
            text.push_str("</div>\n</section>\n");
        }
        text.push_str("</body>\n</html>\n");
        text
    }
}

fn paragraphs(text: &mut String, paragraphs: &[String]) {
    for paragraph in paragraphs {
        let _ = writeln!(text, "<p>{}</p>", escape(paragraph));
    }
}

fn draw(text: &mut String, table: &Table) {
    let cells = Cells::of(table);
    let (shown, rest) = table.fitting();
    let title = escape(&table.title);
    let _ = writeln!(
        text,
        "<figure>\n<figcaption><b>{title}</b> <span class=\"how\">{}</span></figcaption>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\n<table>",
        escape(&table.how)
    );
    let is_marked = |column: usize| table.printed.iter().any(|printed| printed.column == column);
    text.push_str("<tr><td class=\"corner\"></td>");
    for (column, name) in table.columns[..shown].iter().enumerate() {
        let span = if is_marked(column) {
            " colspan=\"2\""
        } else {
            ""
        };
        let _ = write!(
            text,
            "<th scope=\"col\"{span}><bdi>{}</bdi></th>",
            escape(name)
        );
    }
    text.push_str("</tr>\n");
    for (row, name) in table.rows.iter().enumerate() {
        let _ = write!(
            text,
            "<tr><th scope=\"row\"><bdi>{}</bdi></th>",
            escape(name)
        );
        for column in 0..shown {
            let mut classes = Vec::new();
            if let Some(share) = cells.share(row, column) {
                classes.push(format!("s{}", (share * 20.0).round()));
            }
            if is_marked(column) {
                classes.push("beside".to_owned());
            }
            let class = match classes.as_slice() {
                [] => String::new(),
                classes => format!(" class=\"{}\"", classes.join(" ")),
            };
            let _ = write!(text, "<td{class}>{}</td>", cells.number(row, column));
            if is_marked(column) {
                marks(text, &cells, row, column);
            }
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table>\n</div>\n");
    let notes: Vec<&String> = rest.iter().chain(&table.notes).collect();
    if !notes.is_empty() {
        text.push_str("<ul>\n");
        for note in notes {
            let _ = writeln!(text, "<li>{}</li>", escape(note));
        }
        text.push_str("</ul>\n");
    }
    text.push_str("</figure>\n");
}

/// The cell for what a document prints, beside the number's.
fn marks(text: &mut String, cells: &Cells<'_>, row: usize, column: usize) {
    text.push_str("<td class=\"marks\">");
    for printed in cells.printed(row, column) {
        let class = if printed.differs { "differs" } else { "same" };
        let _ = write!(text, "<span class=\"{class}\">{}</span>", mark(printed));
    }
    text.push_str("</td>");
}
