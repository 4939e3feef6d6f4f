//! A document as HTML: one file that loads nothing, and runs nothing but a script of its own.

use std::fmt::Write;

use super::table::{Cell, Column};
use super::{Document, Listing, Table};
use crate::markup::{escape, file, source_of};
use crate::plots;
use crate::theme::{properties, svg_style};

/// A cell's shade is one of so many classes: the content security policy allows no style attributes.
const SHADES: u8 = 20;

fn style() -> String {
    let shades = (1..=SHADES).map(|shade| {
        let opacity = f64::from(shade) / f64::from(SHADES);
        format!(".s{shade}::before{{opacity:{opacity}}}")
    });
    properties() + include_str!("document.css") + &shades.collect::<String>()
}

impl Document {
    /// The document as HTML, for any browser, without a network.
    pub fn html(&self) -> String {
        self.html_with("", "", "")
    }

    /// The document as HTML, with elements at its end. `sources` are directives of its content security policy for their
    /// scripts, `other_style` allows their style.
    pub fn html_with(&self, sources: &str, other_style: &str, elements: &str) -> String {
        let style = style();
        let mut sources = format!("{sources}style-src {} {other_style}", source_of(&style));
        let mut sections = self.sections.iter();
        if sections.any(|section| !section.plots.is_empty()) {
            let _ = write!(sources, " {}", source_of(&svg_style()));
        }
        let mut body = format!("<main>\n<h1>{}</h1>\n", escape(&self.title));
        paragraphs(&mut body, &self.paragraphs);
        if let Some(legend) = self.legend() {
            let _ = writeln!(body, "<p class=\"legend\">{legend}</p>");
        }
        for section in &self.sections {
            body.push_str("<section>\n");
            if !section.title.is_empty() {
                let _ = writeln!(body, "<h2>{}</h2>", escape(&section.title));
            }
            paragraphs(&mut body, &section.paragraphs);
            if !section.plots.is_empty() {
                body.push_str(&plots::svg(&self.title, &section.plots));
            }
            body.push_str("<div class=\"tables\">\n");
            for table in &section.tables {
                table.html(&mut body);
            }
            for listing in &section.listings {
                listing.html(&mut body);
            }
            body.push_str("</div>\n</section>\n");
        }
        body.push_str("</main>\n");
        body.push_str(elements);
        file(&self.title, &sources, "", &style, body.trim_end())
    }
}

fn paragraphs(html: &mut String, paragraphs: &[String]) {
    for paragraph in paragraphs {
        let _ = writeln!(html, "<p>{}</p>", escape(paragraph));
    }
}

impl Table {
    fn html(&self, html: &mut String) {
        let title = escape(&self.title);
        let _ = writeln!(
            html,
            "<figure>\n<figcaption><b>{title}</b> <span class=\"how\">{}</span></figcaption>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\n<table>",
            escape(&self.how)
        );
        let columns: Vec<Column> = self.layout().collect();
        let _ = match self.corner.as_str() {
            "" => write!(html, "<tr><td class=\"corner\"></td>"),
            corner => write!(html, "<tr><th scope=\"col\">{}</th>", escape(corner)),
        };
        for (name, column) in self.columns.iter().zip(&columns) {
            html.push_str("<th scope=\"col\"");
            if column.is_left_aligned {
                html.push_str(" class=\"words\"");
            }
            if column.marks > 0 {
                html.push_str(" colspan=\"2\"");
            }
            let _ = write!(html, "><bdi>{}</bdi></th>", escape(name));
        }
        html.push_str("</tr>\n");
        for row in &self.rows {
            let name = escape(&row.name);
            let _ = write!(html, "<tr><th scope=\"row\"><bdi>{name}</bdi></th>");
            for (cell, column) in row.cells.iter().zip(&columns) {
                cell.html(html, column);
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</table>\n</div>\n");
        if !self.notes.is_empty() {
            html.push_str("<ul>\n");
            for note in &self.notes {
                let _ = writeln!(html, "<li>{}</li>", escape(note));
            }
            html.push_str("</ul>\n");
        }
        html.push_str("</figure>\n");
    }
}

impl Listing {
    fn html(&self, html: &mut String) {
        let title = escape(&self.title);
        let lines: Vec<String> = self.lines.iter().map(|line| escape(line)).collect();
        let _ = writeln!(
            html,
            "<figure>\n<figcaption><b>{title}</b></figcaption>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\n<pre>{}</pre>\n</div>\n</figure>",
            lines.join("\n")
        );
    }
}

impl Cell {
    /// The cell; in a column with marks, another one for them.
    fn html(&self, html: &mut String, column: &Column) {
        let marked = column.marks > 0;
        let shade = self
            .share
            .map(|share| format!("s{}", (share * f32::from(SHADES)).round()));
        let beside = marked.then(|| "beside".to_owned());
        let words = column.is_left_aligned.then(|| "words".to_owned());
        let classes: Vec<String> = shade.into_iter().chain(beside).chain(words).collect();
        let class = match classes.as_slice() {
            [] => String::new(),
            classes => format!(" class=\"{}\"", classes.join(" ")),
        };
        let _ = write!(html, "<td{class}>{}</td>", escape(&self.text));
        if marked {
            html.push_str("<td class=\"marks\">");
            for mark in &self.marks {
                let class = if mark.differs { "differs" } else { "same" };
                let _ = write!(
                    html,
                    "<span class=\"{class}\">{}</span>",
                    escape(&mark.text)
                );
            }
            html.push_str("</td>");
        }
    }
}
