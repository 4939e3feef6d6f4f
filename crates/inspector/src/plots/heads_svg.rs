//! The heatmaps of several heads in one SVG picture: a row for each layer, a column for each head, and the same
//! axes and colours for all.

use std::collections::BTreeMap;

use super::Heatmap;
use super::colour_bar::{BAR_WIDTH, MASKED, colour_bar, fill};
use crate::svg::Svg;
use crate::words::width;

/// The margin of the picture, the height of a line of text, and the width of an average character.
const MARGIN: f64 = 16.0;
const LINE: f64 = 18.0;
const CHARACTER: f64 = 7.2;

/// The room between two matrices.
const GAP: f64 = 12.0;

/// The side of a matrix, if its cells can be neither too small nor too large for it.
const SIDE: f64 = 144.0;

/// The least distance of two names along an axis.
const NAME_DISTANCE: f64 = 13.0;

/// The widest and highest grid whose cells become larger so that each name has room.
const MOST_NAMED: f64 = 2400.0;

/// The most cells that show their value when they are pointed at. More cells are one shape per colour, which takes a
/// tenth of the bytes.
const MOST_WITH_VALUES: usize = 5000;

/// The matrices as an SVG picture.
pub(super) fn svg(heatmap: &Heatmap) -> String {
    let grid = Grid::of(heatmap);
    let mut svg = Svg::default();
    grid.heading(&mut svg);
    grid.titles(&mut svg);
    grid.names(&mut svg);
    for index in 0..heatmap.matrices() {
        let corner = grid.corner(index);
        svg.group("class=\"colour\"", |svg| grid.cells(svg, index, corner));
        svg.rect("class=\"axis\"", corner, [grid.side; 2]);
    }
    let [left, top] = grid.first;
    let across = grid.stride() * heatmap.heads.len() as f64;
    let bar = [left + across + 4.0, top];
    colour_bar(&mut svg, &heatmap.scale(), bar, grid.side);
    svg.finish(&heatmap.title, grid.size())
}

/// The places and sizes of the picture's parts.
struct Grid<'a> {
    heatmap: &'a Heatmap,
    title: Vec<String>,
    names: Vec<String>,
    /// The positions whose names are shown.
    named: Vec<usize>,
    cell: f64,
    /// The side of a matrix.
    side: f64,
    /// The upper left corner of the first matrix.
    first: [f64; 2],
}

impl<'a> Grid<'a> {
    fn of(heatmap: &'a Heatmap) -> Self {
        let count = heatmap.tokens.len();
        let cell = (SIDE / count as f64).floor().clamp(2.0, 20.0);
        let most = heatmap.heads.len().max(heatmap.layers.len()) * count;
        let cell = if most as f64 * NAME_DISTANCE <= MOST_NAMED {
            cell.max(NAME_DISTANCE)
        } else {
            cell
        };
        let names = heatmap.names();
        let named = named(heatmap, (NAME_DISTANCE / cell).ceil() as usize);
        let longest = named.iter().map(|&position| width(&names[position]));
        let room = longest.max().unwrap_or(0) as f64 * CHARACTER + 10.0;
        let side = cell * count as f64;
        let left = MARGIN + LINE + room;
        let across = left + (side + GAP) * heatmap.heads.len() as f64 + BAR_WIDTH;
        let title = heatmap.title_lines((across / 8.4) as usize);
        let top = MARGIN + (title.len() + 4) as f64 * LINE + room;
        Self {
            heatmap,
            title,
            names,
            named,
            cell,
            side,
            first: [left, top],
        }
    }

    fn stride(&self) -> f64 {
        self.side + GAP
    }

    /// The upper left corner of a matrix.
    fn corner(&self, index: usize) -> [f64; 2] {
        let heads = self.heatmap.heads.len();
        let [left, top] = self.first;
        let (row, column) = (index / heads, index % heads);
        [
            left + column as f64 * self.stride(),
            top + row as f64 * self.stride(),
        ]
    }

    fn size(&self) -> [f64; 2] {
        let [left, top] = self.first;
        let across = self.stride() * self.heatmap.heads.len() as f64;
        let down = self.stride() * self.heatmap.layers.len() as f64;
        [
            (left + across + BAR_WIDTH + MARGIN).max(460.0),
            top + down + MARGIN,
        ]
    }

    fn heading(&self, svg: &mut Svg) {
        let mut y = MARGIN + 12.0;
        for line in &self.title {
            svg.text("title", [MARGIN, y], line);
            y += LINE;
        }
        svg.text("quiet", [MARGIN, y], &self.heatmap.axes());
        svg.text("quiet", [MARGIN, y + LINE], &self.heatmap.scale().legend());
    }

    /// The names of heads above the columns, and of layers beside the rows.
    fn titles(&self, svg: &mut Svg) {
        let [left, top] = self.first;
        let above = MARGIN + (self.title.len() + 3) as f64 * LINE;
        for (column, head) in self.heatmap.heads.iter().enumerate() {
            let x = left + column as f64 * self.stride() + self.side / 2.0;
            svg.text("middle strong", [x, above + 6.0], &format!("head {head}"));
        }
        for (row, layer) in self.heatmap.layers.iter().enumerate() {
            let y = top + row as f64 * self.stride() + self.side / 2.0;
            let place = [MARGIN + 10.0, y];
            svg.upright("middle strong", place, &format!("layer {layer}"));
        }
    }

    /// The names of queries beside each row, and of keys above each column.
    fn names(&self, svg: &mut Svg) {
        let [left, top] = self.first;
        for &position in &self.named {
            let name = &self.names[position];
            let marked = self.heatmap.marked.contains(&position);
            let class = if marked { "strong" } else { "" };
            let along = (position as f64 + 0.5) * self.cell + 4.0;
            for row in 0..self.heatmap.layers.len() {
                let y = top + row as f64 * self.stride() + along;
                svg.text(&format!("end {class}"), [left - 6.0, y], name);
            }
            for column in 0..self.heatmap.heads.len() {
                let x = left + column as f64 * self.stride() + along;
                svg.upright(class, [x, top - 6.0], name);
            }
        }
    }

    fn cells(&self, svg: &mut Svg, index: usize, [left, top]: [f64; 2]) {
        let (count, scale) = (self.names.len(), self.heatmap.scale());
        let with_values = self.heatmap.cells.len() <= MOST_WITH_VALUES;
        let mut by_colour: BTreeMap<String, Vec<[f64; 2]>> = BTreeMap::new();
        for (cell, &value) in self.heatmap.matrix(index).iter().enumerate() {
            let (query, key) = (cell / count, cell % count);
            let corner = [
                left + key as f64 * self.cell,
                top + query as f64 * self.cell,
            ];
            let is_allowed = self.heatmap.is_allowed(query, key);
            let fill = if is_allowed {
                fill(scale.share(query, value))
            } else {
                MASKED.to_owned()
            };
            if with_values {
                let [query, key] = [query, key].map(|position| &self.names[position]);
                let value = if is_allowed {
                    value.to_string()
                } else {
                    "masked".to_owned()
                };
                let name = format!("query {query}, key {key}: {value}");
                svg.named_rect(&fill, corner, [self.cell; 2], &name);
            } else {
                by_colour.entry(fill).or_default().push(corner);
            }
        }
        for (fill, corners) in &by_colour {
            svg.squares(fill, corners, self.cell);
        }
    }
}

/// The positions whose names have room: those that the label depends on first, then every n-th that is no nearer
/// than `distance` to one of them.
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
