//! A heatmap as an SVG picture: one matrix, or several with a row for each layer, a column for each head, and the same axes and
//! colours for all.

use std::collections::BTreeMap;

use super::colour_bar::{BAR_WIDTH, MASKED, colour_bar, fill, ink};
use super::{Heatmap, Quantity};
use crate::svg::Svg;
use crate::words::width;

/// The margin of the picture, the height of a line of text, and the width of an average character.
const MARGIN: f64 = 16.0;
const LINE: f64 = 18.0;
const CHARACTER: f64 = 7.2;

/// The most positions of a single matrix whose cells have numbers: of more, they are too small.
const MAX_POSITIONS_WITH_NUMBERS: usize = 40;

/// The room between two matrices.
const GAP: f64 = 12.0;

/// The side of one of several matrices, if its cells can be neither too small nor too large for it.
const SIDE: f64 = 144.0;

/// The least distance of two names along an axis.
const NAME_DISTANCE: f64 = 13.0;

/// The widest and highest grid whose cells become larger so that each name has room.
const MAX_NAMED_PIXELS: f64 = 2400.0;

/// The most cells of several matrices that show their value when they are pointed at. More cells are one shape per colour, which
/// takes a tenth of the bytes.
const MAX_CELLS_WITH_VALUES: usize = 5000;

impl Heatmap {
    /// The heatmap as an SVG picture with a colour bar, and `*` at positions that the label depends on. A single
    /// matrix has numbers in its cells, unless there are too many.
    pub fn svg(&self) -> String {
        let layout = Layout::of(self);
        let mut svg = Svg::default();
        layout.heading(&mut svg);
        layout.titles(&mut svg);
        layout.names(&mut svg);
        for index in 0..self.matrices() {
            let corner = layout.corner(index);
            svg.group("class=\"colour\"", |svg| layout.cells(svg, index, corner));
            svg.rect("class=\"axis\"", corner, layout.matrix());
        }
        let [right, _] = layout.end();
        let length = layout.matrix()[1].max(100.0);
        let bar = [right + 16.0, layout.first[1]];
        colour_bar(&mut svg, &self.scale(), bar, length);
        svg.finish(&self.title.join(" · "), layout.size())
    }
}

/// The places and sizes of a heatmap's parts.
struct Layout<'a> {
    heatmap: &'a Heatmap,
    /// The title's lines.
    title: Vec<String>,
    /// Names of positions, with their numbers.
    names: Vec<String>,
    /// The positions whose names are shown.
    named: Vec<usize>,
    cell: [f64; 2],
    /// Whether the names above the columns read upwards.
    is_upright: bool,
    /// The upper left corner of the first matrix.
    first: [f64; 2],
}

impl<'a> Layout<'a> {
    fn of(heatmap: &'a Heatmap) -> Self {
        let count = heatmap.tokens.len();
        let is_single = heatmap.matrices() == 1;
        let cell = if !is_single {
            [side_of_cell(heatmap); 2]
        } else if count > MAX_POSITIONS_WITH_NUMBERS {
            [12.0; 2]
        } else {
            [54.0, 30.0]
        };
        let names = heatmap.names();
        let named = if is_single {
            (0..count).collect()
        } else {
            named(heatmap, (NAME_DISTANCE / cell[0]).ceil() as usize)
        };
        let longest = named.iter().map(|&position| width(&names[position])).max();
        let room = longest.unwrap_or(0) as f64 * CHARACTER + 10.0;
        // Names that are wider than their columns read upwards, and none is cut.
        let wide = |token: &String| width(token) > (cell[0] / CHARACTER) as usize;
        let is_upright =
            !is_single || count > MAX_POSITIONS_WITH_NUMBERS || heatmap.tokens.iter().any(wide);
        let above = if is_upright { room } else { 2.0 * LINE };
        let left = MARGIN + LINE + room;
        let across = cell[0] * count as f64;
        let across = if is_single {
            (room + across).max(360.0)
        } else {
            left + (across + GAP) * heatmap.heads.len() as f64 + BAR_WIDTH
        };
        let title = heatmap.title_lines((across / 8.4) as usize);
        // Below the title: what the axes are, what the colours are, and a sentence or the names of heads.
        let more = usize::from(!is_single || heatmap.uniform(None).is_some());
        let top = MARGIN + (title.len() + 3 + more) as f64 * LINE + above;
        Self {
            heatmap,
            title,
            names,
            named,
            cell,
            is_upright,
            first: [left, top],
        }
    }

    fn is_single(&self) -> bool {
        self.heatmap.matrices() == 1
    }

    /// The size of a matrix.
    fn matrix(&self) -> [f64; 2] {
        self.cell.map(|side| side * self.names.len() as f64)
    }

    /// The upper left corner of a matrix.
    fn corner(&self, index: usize) -> [f64; 2] {
        let heads = self.heatmap.heads.len();
        let cell = [index % heads, index / heads];
        [0, 1].map(|axis| self.first[axis] + cell[axis] as f64 * (self.matrix()[axis] + GAP))
    }

    /// The lower right corner of the last matrix.
    fn end(&self) -> [f64; 2] {
        let last = self.corner(self.heatmap.matrices() - 1);
        [0, 1].map(|axis| last[axis] + self.matrix()[axis])
    }

    fn size(&self) -> [f64; 2] {
        let [right, bottom] = self.end();
        [
            (right + BAR_WIDTH + MARGIN).max(460.0),
            bottom.max(self.first[1] + 100.0) + MARGIN,
        ]
    }

    fn heading(&self, svg: &mut Svg) {
        let colours = self.heatmap.scale().legend();
        let below = [self.heatmap.axes(), colours];
        let uniform = self.heatmap.uniform(None).map(str::to_owned);
        let titles = self.title.iter().map(|line| ("title", line.clone()));
        let below = below.into_iter().chain(uniform).map(|line| ("quiet", line));
        for (row, (class, line)) in titles.chain(below).enumerate() {
            svg.text(class, [MARGIN, MARGIN + 12.0 + row as f64 * LINE], &line);
        }
    }

    /// The names of heads above the columns, and of layers beside the rows.
    fn titles(&self, svg: &mut Svg) {
        if self.is_single() {
            return;
        }
        let above = MARGIN + (self.title.len() + 3) as f64 * LINE;
        let half = self.cell[0] * self.names.len() as f64 / 2.0;
        for (column, head) in self.heatmap.heads.iter().enumerate() {
            let x = self.corner(column)[0] + half;
            svg.text("middle strong", [x, above + 6.0], &format!("head {head}"));
        }
        for (row, layer) in self.heatmap.layers.iter().enumerate() {
            let y = self.corner(row * self.heatmap.heads.len())[1] + half;
            let place = [MARGIN + 10.0, y];
            svg.upright("middle strong", place, &format!("layer {layer}"));
        }
    }

    /// The names of queries beside each row, and of keys above each column.
    fn names(&self, svg: &mut Svg) {
        let ([left, top], [width, height]) = (self.first, self.cell);
        let heads = self.heatmap.heads.len();
        for &position in &self.named {
            let name = &self.names[position];
            let marked = self.heatmap.marked.contains(&position);
            let class = if marked { " strong" } else { "" };
            let along = position as f64 + 0.5;
            for row in 0..self.heatmap.layers.len() {
                let y = self.corner(row * heads)[1] + along * height + 4.0;
                svg.text(&format!("end{class}"), [left - 6.0, y], name);
            }
            for column in 0..heads {
                let x = self.corner(column)[0] + along * width;
                if self.is_upright {
                    svg.upright(class, [x + 4.0, top - 6.0], name);
                    continue;
                }
                // The number above the token.
                let token = &self.heatmap.tokens[position];
                let number = self.heatmap.position(position);
                for (line, part) in [(LINE, &number), (0.0, token)] {
                    svg.text(&format!("middle{class}"), [x, top - 7.0 - line], part);
                }
            }
        }
    }

    fn cells(&self, svg: &mut Svg, index: usize, [left, top]: [f64; 2]) {
        let (count, size, scale) = (self.names.len(), self.cell, self.heatmap.scale());
        let has_values = self.is_single() || self.heatmap.cells.len() <= MAX_CELLS_WITH_VALUES;
        let has_numbers = self.is_single() && count <= MAX_POSITIONS_WITH_NUMBERS;
        let decimals = match self.heatmap.quantity {
            Quantity::Weights => 4,
            Quantity::Scores => 2,
        };
        let mut by_colour: BTreeMap<String, Vec<[f64; 2]>> = BTreeMap::new();
        for (cell, &value) in self.heatmap.matrix(index).iter().enumerate() {
            let (query, key) = (cell / count, cell % count);
            let corner = [left + key as f64 * size[0], top + query as f64 * size[1]];
            let share = scale.share(query, value);
            let (fill, shown) = if self.heatmap.is_allowed(query, key) {
                (fill(share), value.to_string())
            } else {
                (MASKED.to_owned(), "masked".to_owned())
            };
            if !has_values {
                by_colour.entry(fill).or_default().push(corner);
                continue;
            }
            let [from, to] = [query, key].map(|position| &self.names[position]);
            let name = format!("query {from}, key {to}: {shown}");
            svg.named_rect(&fill, corner, size, &name);
            if has_numbers && fill != MASKED {
                let middle = [corner[0] + size[0] / 2.0, corner[1] + size[1] / 2.0 + 4.0];
                svg.text(ink(share), middle, &format!("{value:.decimals$}"));
            }
        }
        for (fill, corners) in &by_colour {
            svg.squares(fill, corners, size[0]);
        }
    }
}

/// The side of a cell of several matrices.
fn side_of_cell(heatmap: &Heatmap) -> f64 {
    let count = heatmap.tokens.len();
    let side = (SIDE / count as f64).floor().clamp(2.0, 20.0);
    let most = heatmap.heads.len().max(heatmap.layers.len()) * count;
    if most as f64 * NAME_DISTANCE <= MAX_NAMED_PIXELS {
        side.max(NAME_DISTANCE)
    } else {
        side
    }
}

/// The positions whose names are shown: those that the label depends on, and of every n-th position those that are at least
/// `distance` away from all names before them.
fn named(heatmap: &Heatmap, distance: usize) -> Vec<usize> {
    let mut named: Vec<usize> = Vec::new();
    let every = (0..heatmap.tokens.len()).step_by(distance);
    let mut marked = heatmap.marked.clone();
    marked.sort_unstable();
    for position in marked.into_iter().chain(every) {
        if named
            .iter()
            .all(|&other| position.abs_diff(other) >= distance)
        {
            named.push(position);
        }
    }
    named
}
