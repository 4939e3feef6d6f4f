//! A document as an SVG picture.

use super::table::{Cell, Column, MOST_NAME};
use super::{Document, Listing, Table};
use crate::svg::Svg;
use crate::words::{width, wrap};

/// The height of a line, the width of a character of the monospaced font, and that of a terminal's
/// column in the proportional font.
const LINE: f64 = 20.0;
const CHARACTER: f64 = 7.9;
const PROPORTIONAL: f64 = 7.0;

/// The margin of the picture, and the padding of a cell.
const MARGIN: f64 = 20.0;
const PADDING: f64 = 8.0;

/// The width of text, in columns of a terminal.
const TEXT: usize = 96;

impl Document {
    /// The document's text, tables and listings as an SVG picture, below one another.
    pub fn svg(&self) -> String {
        let mut drawing = Drawing {
            svg: Svg::default(),
            y: MARGIN + 8.0,
            width: TEXT as f64 * PROPORTIONAL,
        };
        drawing.line("title", &self.title);
        drawing.paragraphs("text", self.paragraphs.iter().map(String::as_str));
        drawing.paragraphs("text quiet", self.legend().into_iter());
        for section in &self.sections {
            if !section.title.is_empty() {
                drawing.y += LINE;
                drawing.line("heading", &section.title);
            }
            drawing.paragraphs("text", section.paragraphs.iter().map(String::as_str));
            for table in &section.tables {
                drawing.y += LINE / 2.0;
                drawing.table(table);
            }
            for listing in &section.listings {
                drawing.y += LINE / 2.0;
                drawing.listing(listing);
            }
        }
        let size = [drawing.width + 2.0 * MARGIN, drawing.y + MARGIN];
        drawing.svg.finish(&self.title, size)
    }
}

/// What is drawn so far.
struct Drawing {
    svg: Svg,
    /// The top of the next line.
    y: f64,
    /// The width of what is drawn, without margins.
    width: f64,
}

impl Drawing {
    fn line(&mut self, class: &str, line: &str) {
        self.svg.text(class, [MARGIN, self.y + 14.0], line);
        self.y += LINE;
    }

    fn paragraphs<'a>(&mut self, class: &str, paragraphs: impl Iterator<Item = &'a str>) {
        for line in paragraphs.flat_map(|paragraph| wrap(paragraph, TEXT)) {
            self.line(class, &line);
        }
    }

    fn table(&mut self, table: &Table) {
        self.svg
            .caption([MARGIN, self.y + 14.0], &table.title, &table.how);
        self.y += LINE;
        let names = table.names(MOST_NAME);
        let side = names.iter().map(|name| width(name)).max().unwrap_or(0);
        let mut x = MARGIN + side as f64 * CHARACTER + PADDING;
        let y = self.y;
        self.svg.group("class=\"cells\"", |svg| {
            for (row, name) in names.iter().enumerate() {
                svg.text("end quiet", [x - PADDING, baseline(y, row + 1)], name);
            }
            for column in table.layout() {
                x += draw_column(svg, table, &column, [x, y]);
            }
        });
        self.width = self.width.max(x - MARGIN);
        self.y += (table.rows.len() + 1) as f64 * LINE + 4.0;
        let notes: Vec<String> = table.notes.iter().map(|note| format!("· {note}")).collect();
        self.paragraphs("text", notes.iter().map(String::as_str));
    }

    fn listing(&mut self, listing: &Listing) {
        if !listing.title.is_empty() {
            self.paragraphs("text strong", [listing.title.as_str()].into_iter());
        }
        let top = self.y;
        self.svg
            .group("class=\"cells\" xml:space=\"preserve\"", |svg| {
                for (row, line) in listing.lines.iter().enumerate() {
                    svg.text("", [MARGIN, baseline(top, row)], line);
                }
            });
        let widest = listing.lines.iter().map(|line| width(line)).max();
        self.width = self.width.max(widest.unwrap_or(0) as f64 * CHARACTER);
        self.y += listing.lines.len() as f64 * LINE;
    }
}

/// Draws a column, and returns its width.
fn draw_column(svg: &mut Svg, table: &Table, column: &Column, [x, y]: [f64; 2]) -> f64 {
    let wide = column.width() as f64 * CHARACTER + 2.0 * PADDING;
    let right = x + PADDING + column.text as f64 * CHARACTER;
    let over = x + PADDING + column.text.max(width(&column.name)) as f64 * CHARACTER;
    let (class, place) = if column.is_left_aligned {
        ("quiet", x + PADDING)
    } else {
        ("end quiet", over)
    };
    svg.text(class, [place, baseline(y, 0)], &column.name);
    for (row, line) in table.rows.iter().enumerate() {
        let Some(cell) = line.cells.get(column.index) else {
            continue;
        };
        let top = y + (row + 1) as f64 * LINE;
        if let Some(share) = cell.share {
            let paint = format!("class=\"shade\" fill-opacity=\"{share:.2}\"");
            svg.rect(&paint, [x, top], [wide, LINE]);
        }
        svg.rect("class=\"cell\"", [x, top], [wide, LINE]);
        let (class, place) = if column.is_left_aligned {
            ("", x + PADDING)
        } else {
            ("end", right)
        };
        svg.text(class, [place, baseline(y, row + 1)], &cell.text);
        draw_marks(svg, cell, [right + CHARACTER, top]);
    }
    wide
}

fn draw_marks(svg: &mut Svg, cell: &Cell, [mut x, top]: [f64; 2]) {
    for mark in &cell.marks {
        let room = width(&mark.text) as f64 * CHARACTER;
        if mark.differs {
            let (corner, size) = ([x - 2.0, top + 2.0], [room + 4.0, LINE - 4.0]);
            svg.rect("class=\"wrong\" rx=\"3\"", corner, size);
        }
        let class = if mark.differs { "differs" } else { "quiet" };
        svg.text(class, [x, baseline(top, 0)], &mark.text);
        x += room + CHARACTER;
    }
}

/// The baseline of a table's row; the header is row 0.
fn baseline(top: f64, row: usize) -> f64 {
    top + row as f64 * LINE + 14.5
}
