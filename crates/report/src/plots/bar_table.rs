//! Several measures of the same things beside each other: a row for each thing, with a number and a bar in each column.

use std::fmt::Write;

use crate::svg::Svg;
use crate::words::{fitted, left, right, say, width, wrap};

/// Things with their measures, such as the words of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct BarTable {
    /// What the table shows.
    pub title: String,
    /// What a row is.
    pub rows: String,
    /// The names of the rows.
    pub names: Vec<String>,
    /// The measures.
    pub columns: Vec<BarColumn>,
    /// What the columns are, a paragraph each.
    pub notes: Vec<String>,
}

/// A measure.
#[derive(Clone, Debug, PartialEq)]
pub struct BarColumn {
    /// The measure, in two lines.
    pub title: [String; 2],
    /// Its numbers as they are shown, one per row.
    pub texts: Vec<String>,
    /// The lengths of the bars, 0 for none; empty for a column without bars. Negative values go to the left.
    pub bars: Vec<f64>,
    /// The value of the longest bar if none is larger: bars of small values stay short.
    pub full: f64,
}

/// The longest name, and the longest bar of a text, in columns of a terminal.
const MAX_NAME_COLUMNS: usize = 18;
const MAX_BAR_COLUMNS: usize = 8;

/// Sizes of the picture: its margin, the height of a row, the width of an average character, and the width of a bar.
const MARGIN: f64 = 16.0;
const ROW: f64 = 22.0;
const LINE: f64 = 17.0;
const CHARACTER: f64 = 7.4;
const BAR: f64 = 110.0;
const GAP: f64 = 22.0;

/// The columns of a note in the picture.
const NOTE: usize = 96;

impl BarColumn {
    /// The largest bar.
    fn most(&self) -> f64 {
        self.bars
            .iter()
            .copied()
            .map(f64::abs)
            .fold(self.full, f64::max)
    }

    fn has_negative(&self) -> bool {
        self.bars.iter().any(|&bar| bar < 0.0)
    }

    /// Where the bar of a row starts in a picture, its length and its class; `None` if it would not be seen. Bars of both
    /// signs start in the middle.
    fn bar(&self, index: usize, x: f64) -> Option<(f64, f64, &'static str)> {
        let bar = *self.bars.get(index)?;
        let (zero, room) = if self.has_negative() {
            (x + BAR / 2.0, BAR / 2.0)
        } else {
            (x, BAR)
        };
        let length = bar.abs() / self.most() * room;
        let (start, class) = if bar < 0.0 {
            (zero - length, "set1")
        } else {
            (zero, "set0")
        };
        (length >= 0.5).then_some((start, length, class))
    }

    /// The width of its numbers, and that of all with bars of this width.
    fn widths(&self, bar: usize) -> (usize, usize) {
        let numbers = self.texts.iter().map(|text| width(text)).max();
        let numbers = numbers.unwrap_or(0);
        let bar = if self.bars.is_empty() { 0 } else { bar };
        let titles = self.title.iter().map(|title| width(title));
        (numbers, titles.fold(numbers + bar, usize::max))
    }
}

impl BarTable {
    fn fitted_names(&self, columns: usize) -> Vec<String> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        fitted(&names, columns)
    }

    /// The table as text. Bars of negative values are grey.
    pub fn text(&self, columns: usize) -> String {
        let mut text = String::new();
        say(&mut text, &self.title, columns);
        let names = self.fitted_names(MAX_NAME_COLUMNS);
        let named = names.iter().chain([&self.rows]).map(|name| width(name));
        let side = named.max().unwrap_or(0);
        // Numbers end where their column's do, and bars start there.
        let widths = |column: &BarColumn| column.widths(MAX_BAR_COLUMNS + 1);
        let layout: Vec<(usize, usize)> = self.columns.iter().map(widths).collect();
        text.push('\n');
        for line in 0..2 {
            let name = if line == 1 { &self.rows[..] } else { "" };
            let mut row = left(name, side);
            for (column, &(_, wide)) in self.columns.iter().zip(&layout) {
                row += "  ";
                row += &left(&column.title[line], wide);
            }
            let _ = writeln!(text, "{}", row.trim_end());
        }
        for (index, name) in names.iter().enumerate() {
            let mut row = left(name, side);
            for (column, &(numbers, wide)) in self.columns.iter().zip(&layout) {
                let number = right(&column.texts[index], numbers);
                let bar = column.bars.get(index).map_or(String::new(), |&bar| {
                    let cells =
                        (bar.abs() / column.most() * MAX_BAR_COLUMNS as f64).round() as usize;
                    if bar < 0.0 { "░" } else { "█" }.repeat(cells)
                });
                row += "  ";
                row += &left(&format!("{number} {bar}"), wide);
            }
            let _ = writeln!(text, "{}", row.trim_end());
        }
        for note in &self.notes {
            text.push('\n');
            say(&mut text, note, columns);
        }
        text
    }

    /// The table as an SVG picture.
    pub fn svg(&self) -> String {
        let mut svg = Svg::default();
        let named = self
            .names
            .iter()
            .chain([&self.rows])
            .map(|name| width(name));
        let side = MARGIN + named.max().unwrap_or(0).min(2 * MAX_NAME_COLUMNS) as f64 * CHARACTER;
        let mut x = side + GAP;
        let mut places = Vec::new();
        for column in &self.columns {
            let bar = if column.bars.is_empty() {
                0.0
            } else {
                BAR + 8.0
            };
            let (numbers, titled) = column.widths(0);
            let [numbers, titled] = [numbers, titled].map(|columns| columns as f64 * CHARACTER);
            places.push((x, numbers));
            x += (numbers + bar).max(titled) + GAP;
        }
        let right = (x - GAP + MARGIN).max(480.0);
        let most = ((right - 2.0 * MARGIN) / 8.6) as usize;
        let mut y = MARGIN + 12.0;
        for line in wrap(&self.title, most) {
            svg.text("title", [MARGIN, y], &line);
            y += LINE + 2.0;
        }
        y += 8.0;
        for line in 0..2 {
            for (column, &(x, _)) in self.columns.iter().zip(&places) {
                svg.text("strong", [x, y], &column.title[line]);
            }
            y += LINE;
        }
        svg.text("strong", [MARGIN, y - LINE], &self.rows);
        let top = y - LINE + 8.0;
        for (index, name) in self.fitted_names(2 * MAX_NAME_COLUMNS).iter().enumerate() {
            let middle = top + (index as f64 + 0.5) * ROW;
            svg.text("text", [MARGIN, middle + 4.0], name);
            for (column, &(x, numbers)) in self.columns.iter().zip(&places) {
                svg.text("end", [x + numbers, middle + 4.0], &column.texts[index]);
                if let Some((start, length, class)) = column.bar(index, x + numbers + 8.0) {
                    let value = format!("{name}: {}", column.texts[index]);
                    let (corner, size) = ([start, middle - 6.0], [length, 12.0]);
                    svg.named_rect(&format!("class=\"{class}\""), corner, size, &value);
                }
            }
        }
        let bottom = top + self.names.len() as f64 * ROW;
        for (column, &(x, numbers)) in self.columns.iter().zip(&places) {
            if column.has_negative() {
                let zero = x + numbers + 8.0 + BAR / 2.0;
                svg.path("axis", &[[zero, top], [zero, bottom]], "");
            }
        }
        let mut y = bottom + 8.0 + LINE;
        for note in &self.notes {
            for line in wrap(note, NOTE.min((right / 6.6) as usize)) {
                svg.text("quiet", [MARGIN, y], &line);
                y += LINE;
            }
        }
        svg.finish(&self.title, [right, y - LINE + MARGIN])
    }
}
