//! A heatmap of one head as an SVG picture.

use super::colour_bar::{BAR_WIDTH, MASKED, colour_bar, fill};
use super::heads_svg;
use super::{Heatmap, Quantity};
use crate::svg::Svg;
use crate::theme::{takes_black_ink, viridis};
use crate::words::width;

/// The margin of the picture, the height of a line of text, and the width of an average character.
const MARGIN: f64 = 16.0;
const LINE: f64 = 18.0;
const CHARACTER: f64 = 7.2;

/// Above this number of positions, cells are too small for numbers.
const MOST_NUMBERS: usize = 40;

/// The characters that have room in a width.
fn columns(width: f64) -> usize {
    (width / CHARACTER) as usize
}

impl Heatmap {
    /// The heatmap as an SVG picture with a colour bar, and `*` at positions that the label depends on. A single
    /// matrix has numbers in its cells, unless there are too many.
    pub fn svg(&self) -> String {
        if self.matrices() > 1 {
            return heads_svg::svg(self);
        }
        let layout = Layout::of(self);
        let mut svg = Svg::default();
        layout.heading(&mut svg);
        layout.names(&mut svg);
        svg.group("class=\"colour\"", |svg| layout.cells(svg));
        let ([right, bottom], top) = (layout.end(), layout.corner[1]);
        let length = (bottom - top).max(100.0);
        colour_bar(&mut svg, &self.scale(), [right + 16.0, top], length);
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
    /// Whether the names above the columns read upwards.
    is_upright: bool,
    /// The upper left corner of the cells.
    corner: [f64; 2],
}

impl<'a> Layout<'a> {
    fn of(heatmap: &'a Heatmap) -> Self {
        let count = heatmap.tokens.len();
        let names = heatmap.names();
        let longest = names.iter().map(|name| width(name)).max().unwrap_or(0);
        let side = longest as f64 * CHARACTER + 10.0;
        let cell = if count > MOST_NUMBERS {
            [12.0, 12.0]
        } else {
            [54.0, 30.0]
        };
        // Names that are wider than their columns read upwards, and none is cut.
        let is_upright = count > MOST_NUMBERS
            || heatmap
                .tokens
                .iter()
                .any(|token| width(token) > columns(cell[0]));
        let above = if is_upright { side } else { 2.0 * LINE };
        let room = (side + cell[0] * count as f64).max(360.0);
        let title = heatmap.title_lines((room / 8.4) as usize);
        let uniform = usize::from(heatmap.uniform(None).is_some());
        let top = MARGIN + (title.len() + 3 + uniform) as f64 * LINE + above;
        Self {
            heatmap,
            title,
            names,
            cell,
            is_upright,
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
            (right + BAR_WIDTH + MARGIN).max(420.0),
            bottom.max(self.corner[1] + 100.0) + MARGIN,
        ]
    }

    fn heading(&self, svg: &mut Svg) {
        let mut y = MARGIN + 12.0;
        for line in &self.title {
            svg.text("title", [MARGIN, y], line);
            y += LINE;
        }
        svg.text("quiet", [MARGIN, y], &self.heatmap.axes());
        let colours = self.heatmap.scale().legend();
        svg.text("quiet", [MARGIN, y + LINE], &colours);
        if let Some(sentence) = self.heatmap.uniform(None) {
            svg.text("quiet", [MARGIN, y + 2.0 * LINE], sentence);
        }
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
            if self.is_upright {
                svg.upright(class, [x + 4.0, top - 6.0], name);
            } else {
                // The number above the token.
                let token = &self.heatmap.tokens[position];
                let place = self.heatmap.place(position);
                for (line, part) in [(LINE, &place), (0.0, token)] {
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
            let place = format!("query {}, key {}", self.names[query], self.names[key]);
            if !self.heatmap.is_allowed(query, key) {
                svg.named_rect(MASKED, [x, y], size, &format!("{place}: masked"));
                continue;
            }
            let share = scale.share(query, value);
            let name = format!("{place}: {value}");
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
}
