//! A heatmap as an SVG picture.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use crate::colour::{is_light, viridis};
use crate::heatmap::share;
use crate::markup::escape;
use crate::{Heatmap, Quantity};

/// Room around everything, height of a line of text, and the width of an average character.
const MARGIN: f64 = 16.0;
const LINE: f64 = 18.0;
const CHARACTER: f64 = 7.2;

/// The widest that names of tokens get before they are cut short.
const LONGEST_NAME: usize = 24;

/// More positions than this have cells too small for numbers.
const MOST_NUMBERS: usize = 40;

const STYLE: &str = "
  svg { background: #fff; font: 12px system-ui, 'DejaVu Sans', sans-serif; fill: #1d1d1f }
  .title { font-size: 15px; font-weight: 600 } .quiet { fill: #5c5c63 } .marked { font-weight: 700 }
  .middle { text-anchor: middle } .end { text-anchor: end } .frame { fill: none; stroke: #8a8a92 }
  rect { shape-rendering: crispEdges } .dark { fill: #fff } .light { fill: #000 }
  @media (prefers-color-scheme: dark) {
    svg { background: #151517; fill: #ececf0 } .quiet { fill: #a9a9b2 }
  }
";

impl Heatmap {
    /// The heatmap as an SVG picture: numbers in the cells, unless there are too many, a colour bar,
    /// and `*` at positions that the label depends on.
    pub fn svg(&self) -> String {
        let layout = Layout::of(self);
        let (width, height) = (layout.width(), layout.height());
        let title = escape(&self.title);
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n<style>{STYLE}</style>\n"
        );
        layout.heading(&mut text);
        layout.names(&mut text);
        layout.cells(&mut text);
        layout.colour_bar(&mut text);
        text.push_str("</svg>\n");
        text
    }
}

/// Where everything stands.
struct Layout<'a> {
    heatmap: &'a Heatmap,
    /// Lines of the title.
    title: Vec<String>,
    /// Names of positions, with their numbers.
    names: Vec<String>,
    cell: [f64; 2],
    /// The upper left corner of the cells.
    corner: [f64; 2],
}

impl<'a> Layout<'a> {
    fn of(heatmap: &'a Heatmap) -> Self {
        let count = heatmap.tokens.len();
        let names: Vec<String> = (0..count).map(|position| name(heatmap, position)).collect();
        let longest = names.iter().map(|name| name.width()).max().unwrap_or(0);
        let cell = if count > MOST_NUMBERS {
            [12.0, 12.0]
        } else {
            [54.0, 30.0]
        };
        let side = longest as f64 * CHARACTER + 10.0;
        let room = (side + cell[0] * count as f64).max(360.0);
        let title = wrapped(&heatmap.title, (room / 8.4) as usize);
        // Names above the columns stand upright where the cells are narrow.
        let above = if count > MOST_NUMBERS {
            side
        } else {
            2.0 * LINE
        };
        let top = MARGIN + (title.len() + 2) as f64 * LINE + above;
        Self {
            heatmap,
            title,
            names,
            cell,
            corner: [MARGIN + LINE + side, top],
        }
    }

    fn count(&self) -> usize {
        self.names.len()
    }

    fn end(&self) -> [f64; 2] {
        [0, 1].map(|axis| self.corner[axis] + self.cell[axis] * self.count() as f64)
    }

    fn width(&self) -> f64 {
        (self.end()[0] + 70.0 + MARGIN).max(420.0)
    }

    fn height(&self) -> f64 {
        self.end()[1].max(self.corner[1] + 100.0) + MARGIN
    }

    fn heading(&self, text: &mut String) {
        let mut y = MARGIN + 12.0;
        for line in &self.title {
            let _ = writeln!(
                text,
                "<text class=\"title\" x=\"{MARGIN}\" y=\"{y}\">{}</text>",
                escape(line)
            );
            y += LINE;
        }
        let legend = if self.heatmap.marked.is_empty() {
            ""
        } else {
            "; * decides the label"
        };
        let _ = writeln!(
            text,
            "<text class=\"quiet\" x=\"{MARGIN}\" y=\"{y}\">rows: query (from), columns: key (to){legend}</text>"
        );
    }

    fn names(&self, text: &mut String) {
        let ([left, top], [width, height]) = (self.corner, self.cell);
        for (position, name) in self.names.iter().enumerate() {
            let class = if self.heatmap.marked.contains(&position) {
                " marked"
            } else {
                ""
            };
            let along = position as f64 + 0.5;
            let y = top + along * height + 4.0;
            let _ = writeln!(
                text,
                "<text class=\"end{class}\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                left - 6.0,
                escape(name)
            );
            let x = left + along * width;
            if self.count() > MOST_NUMBERS {
                let (x, y) = (x + 4.0, top - 6.0);
                let _ = writeln!(
                    text,
                    "<text class=\"{}\" transform=\"translate({x:.1} {y:.1}) rotate(-90)\">{}</text>",
                    class.trim(),
                    escape(name)
                );
            } else {
                // The number above the token, which may be wider than its column.
                let (number, token) = name.split_once(' ').unwrap_or((name, ""));
                let token = cut(token, (width / CHARACTER) as usize);
                for (line, part) in [(LINE, number), (0.0, token.as_str())] {
                    let _ = writeln!(
                        text,
                        "<text class=\"middle{class}\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                        top - 7.0 - line,
                        escape(part)
                    );
                }
            }
        }
    }

    fn cells(&self, text: &mut String) {
        let (count, [left, top], [width, height]) = (self.count(), self.corner, self.cell);
        let range = self.heatmap.range();
        for (index, &value) in self.heatmap.cells.iter().enumerate() {
            let (query, key) = (index / count, index % count);
            let (x, y) = (left + key as f64 * width, top + query as f64 * height);
            let share = share(range, value);
            let _ = writeln!(
                text,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width}\" height=\"{height}\" fill=\"{}\"><title>query {}, key {}: {value}</title></rect>",
                colour(share),
                escape(&self.names[query]),
                escape(&self.names[key])
            );
            if count <= MOST_NUMBERS {
                let class = if is_light(share) { "light" } else { "dark" };
                let decimals = match self.heatmap.quantity {
                    Quantity::Weights => 4,
                    Quantity::Scores => 2,
                };
                let _ = writeln!(
                    text,
                    "<text class=\"middle {class}\" x=\"{:.1}\" y=\"{:.1}\">{value:.decimals$}</text>",
                    x + width / 2.0,
                    y + height / 2.0 + 4.0
                );
            }
        }
        let [right, bottom] = self.end();
        let _ = writeln!(
            text,
            "<rect class=\"frame\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            right - left,
            bottom - top
        );
    }

    fn colour_bar(&self, text: &mut String) {
        const STEPS: usize = 50;
        let (x, top) = (self.end()[0] + 16.0, self.corner[1]);
        let length = (self.end()[1] - top).max(100.0);
        let step = length / STEPS as f64;
        for index in 0..STEPS {
            let share = 1.0 - (index as f32 + 0.5) / STEPS as f32;
            let _ = writeln!(
                text,
                "<rect x=\"{x:.1}\" y=\"{:.2}\" width=\"12\" height=\"{:.2}\" fill=\"{}\"/>",
                top + index as f64 * step,
                step + 0.5,
                colour(share)
            );
        }
        let (min, max) = self.heatmap.range();
        for (value, y) in [(max, top + 9.0), (min, top + length)] {
            let _ = writeln!(
                text,
                "<text class=\"quiet\" x=\"{:.1}\" y=\"{y:.1}\">{value:.2}</text>",
                x + 17.0
            );
        }
    }
}

fn colour(share: f32) -> String {
    let [r, g, b] = viridis(share);
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A position's number, starred where the label depends on it, and its token.
fn name(heatmap: &Heatmap, position: usize) -> String {
    let star = if heatmap.marked.contains(&position) {
        "*"
    } else {
        ""
    };
    let token = cut(&heatmap.tokens[position], LONGEST_NAME);
    format!("{position}{star} {token}")
}

/// Text of at most so many columns.
fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut short = String::new();
    for character in text.chars() {
        if format!("{short}{character}").width() >= columns {
            break;
        }
        short.push(character);
    }
    short + "…"
}

/// Parts of a title, separated by ` · `, in lines of at most so many columns where that can be.
fn wrapped(title: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in title.split(" · ") {
        match lines.last_mut() {
            Some(line) if line.width() + part.width() + 3 <= columns => {
                line.push_str(" · ");
                line.push_str(part);
            }
            _ => lines.push(part.to_owned()),
        }
    }
    lines
}
