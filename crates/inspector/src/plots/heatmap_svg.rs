//! A heatmap as an SVG picture.

use super::{Heatmap, Quantity};
use crate::svg::Svg;
use crate::theme::{takes_black_ink, viridis};
use crate::words::{shorten, width, wrap};

/// The margin of the picture, the height of a line of text, and the width of an average character.
const MARGIN: f64 = 16.0;
const LINE: f64 = 18.0;
const CHARACTER: f64 = 7.2;

/// Above this number of positions, cells are too small for numbers.
const MOST_NUMBERS: usize = 40;

impl Heatmap {
    /// The heatmap as an SVG picture: numbers in the cells, unless there are too many, a colour bar,
    /// and `*` at positions that the label depends on.
    pub fn svg(&self) -> String {
        let layout = Layout::of(self);
        let mut svg = Svg::default();
        layout.heading(&mut svg);
        layout.names(&mut svg);
        svg.group("class=\"colour\"", |svg| layout.cells(svg));
        layout.colour_bar(&mut svg);
        svg.finish(&self.title, layout.size())
    }
}

/// The places and sizes of a heatmap's parts.
struct Layout<'a> {
    heatmap: &'a Heatmap,
    /// The title's lines.
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
        let names: Vec<String> = (0..count).map(|position| heatmap.name(position)).collect();
        let longest = names.iter().map(|name| width(name)).max().unwrap_or(0);
        let side = longest as f64 * CHARACTER + 10.0;
        // Names above narrow cells read upwards.
        let (cell, above) = if count > MOST_NUMBERS {
            ([12.0, 12.0], side)
        } else {
            ([54.0, 30.0], 2.0 * LINE)
        };
        let room = (side + cell[0] * count as f64).max(360.0);
        let title = title_lines(&heatmap.title, (room / 8.4) as usize);
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

    /// The lower right corner of the cells.
    fn end(&self) -> [f64; 2] {
        [0, 1].map(|axis| self.corner[axis] + self.cell[axis] * self.count() as f64)
    }

    fn size(&self) -> [f64; 2] {
        let [right, bottom] = self.end();
        [
            (right + 70.0 + MARGIN).max(420.0),
            bottom.max(self.corner[1] + 100.0) + MARGIN,
        ]
    }

    fn heading(&self, svg: &mut Svg) {
        let mut y = MARGIN + 12.0;
        for line in &self.title {
            svg.text("title", [MARGIN, y], line);
            y += LINE;
        }
        svg.text("quiet", [MARGIN, y], &self.heatmap.legend());
    }

    fn names(&self, svg: &mut Svg) {
        let ([left, top], [width, height]) = (self.corner, self.cell);
        for (position, name) in self.names.iter().enumerate() {
            let marked = self.heatmap.marked.contains(&position);
            let class = if marked { " strong" } else { "" };
            let along = position as f64 + 0.5;
            let y = top + along * height + 4.0;
            svg.text(&format!("end{class}"), [left - 6.0, y], name);
            let x = left + along * width;
            if self.count() > MOST_NUMBERS {
                svg.upright(class, [x + 4.0, top - 6.0], name);
            } else {
                // The number above the token, which may be wider than its column.
                let token = &self.heatmap.tokens[position];
                let token = shorten(token, (width / CHARACTER) as usize);
                let place = self.heatmap.place(position);
                for (line, part) in [(LINE, &place), (0.0, &token)] {
                    svg.text(&format!("middle{class}"), [x, top - 7.0 - line], part);
                }
            }
        }
    }

    fn cells(&self, svg: &mut Svg) {
        let (count, [left, top], size) = (self.count(), self.corner, self.cell);
        let scale = self.heatmap.scale();
        let decimals = match self.heatmap.quantity {
            Quantity::Weights => 4,
            Quantity::Scores => 2,
        };
        for (index, &value) in self.heatmap.cells.iter().enumerate() {
            let (query, key) = (index / count, index % count);
            let (x, y) = (left + key as f64 * size[0], top + query as f64 * size[1]);
            let share = scale(value);
            let name = format!(
                "query {}, key {}: {value}",
                self.names[query], self.names[key]
            );
            svg.named_rect(&fill(share), [x, y], size, &name);
            if count <= MOST_NUMBERS {
                let black = takes_black_ink(viridis(share));
                let class = if black {
                    "middle on-light"
                } else {
                    "middle on-dark"
                };
                let middle = [x + size[0] / 2.0, y + size[1] / 2.0 + 4.0];
                svg.text(class, middle, &format!("{value:.decimals$}"));
            }
        }
        let [right, bottom] = self.end();
        svg.rect("class=\"axis\"", self.corner, [right - left, bottom - top]);
    }

    fn colour_bar(&self, svg: &mut Svg) {
        const STEPS: usize = 50;
        let (x, top) = (self.end()[0] + 16.0, self.corner[1]);
        let length = (self.end()[1] - top).max(100.0);
        let step = length / STEPS as f64;
        svg.group("class=\"colour\"", |svg| {
            for index in 0..STEPS {
                let share = 1.0 - (index as f32 + 0.5) / STEPS as f32;
                let y = top + index as f64 * step;
                svg.rect(&fill(share), [x, y], [12.0, step + 0.5]);
            }
        });
        let (min, max) = self.heatmap.range();
        for (value, y) in [(max, top + 9.0), (min, top + length)] {
            svg.text("quiet", [x + 17.0, y], &format!("{value:.2}"));
        }
    }
}

fn fill(share: f32) -> String {
    let [r, g, b] = viridis(share);
    format!("fill=\"#{r:02x}{g:02x}{b:02x}\"")
}

/// A title in lines of at most `columns`, broken between its parts, which ` · ` separates.
fn title_lines(title: &str, columns: usize) -> Vec<String> {
    let parts: Vec<String> = title
        .split(" · ")
        .map(|part| part.replace(' ', "\u{a0}"))
        .collect();
    let lines = wrap(&parts.join(" · "), columns);
    let ends = |letter: char| matches!(letter, ' ' | '·');
    lines
        .iter()
        .map(|line| line.trim_matches(ends).replace('\u{a0}', " "))
        .collect()
}
