//! A quantity at each pair of settings, as a map of colours in a panel of its own.

use super::colour_bar::{MASKED, fill};
use super::size::{BOTTOM, DIGIT, HEIGHT, LEFT, LETTER, LINE, RIGHT, Room, TOP, WIDTH};
use crate::svg::Svg;
use crate::theme::{takes_black_ink, viridis};
use crate::words::{number, shorten_apart, width, wrap_tightly};

/// The most names along a side; of more, every n-th is shown.
const MOST_NAMES: usize = 16;

/// The widest name, in columns of a terminal.
const MOST_NAME: usize = 20;

/// The colour bar: its distance from the map, its width, and the number of colours in it.
const GAP: f64 = 10.0;
const BAR: f64 = 10.0;
const STEPS: usize = 40;

/// A quantity at each pair of two settings.
#[derive(Clone, Debug, PartialEq)]
pub struct GridPlot {
    /// What the quantity is.
    pub quantity: String,
    /// Digits after the decimal point.
    pub decimals: usize,
    /// What distinguishes columns, and what distinguishes rows.
    pub labels: [String; 2],
    /// The names of columns, from the left, and those of rows, from below.
    pub names: [Vec<String>; 2],
    /// The quantity, and the number of runs that it is a mean of; `None` for a pair without any. `[row][column]`
    pub cells: Vec<Vec<Option<(f64, usize)>>>,
}

/// Which colours the quantity's values have.
struct Colours {
    least: f64,
    most: f64,
}

impl Colours {
    fn share(&self, value: f64) -> f32 {
        // Halves, since the difference of large numbers would overflow.
        let range = self.most / 2.0 - self.least / 2.0;
        if range > 0.0 {
            ((value / 2.0 - self.least / 2.0) / range) as f32
        } else {
            0.5
        }
    }
}

pub(super) fn grid(grid: &GridPlot) -> Option<(Svg, Room)> {
    let known = || {
        grid.cells
            .iter()
            .flatten()
            .flatten()
            .map(|(value, _)| *value)
    };
    let colours = Colours {
        least: known().reduce(f64::min)?,
        most: known().reduce(f64::max)?,
    };
    let mut svg = Svg::default();
    svg.group("class=\"colour\"", |svg| cells(svg, grid, &colours));
    let mut room = bar(&mut svg, grid, &colours);
    names(&mut svg, grid, &mut room);
    labels(&mut svg, grid, &mut room);
    Some((svg, room))
}

/// The size of a cell.
fn size(grid: &GridPlot) -> [f64; 2] {
    let counts = [&grid.names[0], &grid.names[1]].map(|names| names.len().max(1) as f64);
    [
        (WIDTH - RIGHT - LEFT) / counts[0],
        (HEIGHT - BOTTOM - TOP) / counts[1],
    ]
}

fn cells(svg: &mut Svg, grid: &GridPlot, colours: &Colours) {
    let size = size(grid);
    for (row, cells) in grid.cells.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            let corner = [
                LEFT + column as f64 * size[0],
                HEIGHT - BOTTOM - (row + 1) as f64 * size[1],
            ];
            let place = [column, row].into_iter().enumerate();
            let place = place.map(|(side, index)| {
                format!("{} = {}", grid.labels[side], grid.names[side][index])
            });
            let place = place.collect::<Vec<_>>().join(", ");
            let Some((value, runs)) = cell else {
                svg.named_rect(MASKED, corner, size, &format!("{place}: no runs"));
                continue;
            };
            let share = colours.share(*value);
            let written = number(Some(*value), grid.decimals);
            let name = format!(
                "{place}: {written}, mean of {}",
                crate::counted(*runs, "run")
            );
            svg.named_rect(&fill(share), corner, size, &name);
            // Fewer decimals rather than no number.
            let fits = |text: &String| size[0] >= (width(text) as f64 + 0.8) * DIGIT;
            let mut shorter = (grid.decimals.min(1)..=grid.decimals.min(3)).rev();
            let text = shorter
                .by_ref()
                .map(|decimals| number(Some(*value), decimals))
                .find(fits);
            if let (Some(text), true) = (text, size[1] >= 14.0) {
                let ink = if takes_black_ink(viridis(share)) {
                    "on-light"
                } else {
                    "on-dark"
                };
                let middle = [corner[0] + size[0] / 2.0, corner[1] + size[1] / 2.0 + 4.0];
                svg.text(&format!("middle {ink}"), middle, &text);
            }
        }
    }
}

/// The colours, with the least and the largest value beside them.
fn bar(svg: &mut Svg, grid: &GridPlot, colours: &Colours) -> Room {
    let (left, length) = (WIDTH - RIGHT + GAP, HEIGHT - BOTTOM - TOP);
    let step = length / STEPS as f64;
    svg.group("class=\"colour\"", |svg| {
        for index in 0..STEPS {
            let share = 1.0 - (index as f32 + 0.5) / STEPS as f32;
            let corner = [left, TOP + index as f64 * step];
            svg.rect(&fill(share), corner, [BAR, step + 0.5]);
        }
    });
    let mut room = Room::default();
    for (value, baseline) in [(colours.most, TOP + 9.0), (colours.least, HEIGHT - BOTTOM)] {
        let text = number(Some(value), grid.decimals.min(3));
        let from = left + BAR + 4.0;
        room.right = room.right.max(from + width(&text) as f64 * DIGIT - WIDTH);
        svg.text("quiet", [from, baseline], &text);
        // One value has one colour.
        if colours.least >= colours.most {
            break;
        }
    }
    room
}

fn names(svg: &mut Svg, grid: &GridPlot, room: &mut Room) {
    let (bottom, size) = (HEIGHT - BOTTOM, size(grid));
    let shown = |side: usize| {
        let names: Vec<&str> = grid.names[side].iter().map(String::as_str).collect();
        let every = names.len().div_ceil(MOST_NAMES).max(1);
        let shown = shorten_apart(&names, MOST_NAME);
        let widest = shown.iter().map(|name| width(name)).max().unwrap_or(0) as f64 * DIGIT;
        (shown, every, widest)
    };
    let (across, every, widest) = shown(0);
    let is_crowded = widest + DIGIT > size[0] * every as f64;
    for (index, name) in across.iter().enumerate().step_by(every) {
        let middle = LEFT + (index as f64 + 0.5) * size[0];
        if is_crowded {
            svg.upright("end", [middle + 4.0, bottom + 8.0], name);
        } else {
            svg.text("middle", [middle, bottom + 16.0], name);
        }
    }
    room.below = if is_crowded {
        (widest - 12.0).max(0.0)
    } else {
        0.0
    };
    let (up, every, widest) = shown(1);
    for (index, name) in up.iter().enumerate().step_by(every) {
        let middle = bottom - (index as f64 + 0.5) * size[1];
        svg.text("end", [LEFT - 6.0, middle + 4.0], name);
    }
    room.left = (widest - (LEFT - 6.0)).max(0.0);
}

/// What columns are, below; above the map the quantity, and under it what rows are.
fn labels(svg: &mut Svg, grid: &GridPlot, room: &mut Room) {
    let [across, up] = &grid.labels;
    let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
    svg.text("middle", [middle, HEIGHT - 10.0 + room.below], across);
    let columns = ((WIDTH - 14.0) / LETTER) as usize;
    let mut above = wrap_tightly(&grid.quantity, columns);
    above.extend(wrap_tightly(up, columns));
    room.above = above.len().saturating_sub(1) as f64 * LINE;
    for (line, text) in above.iter().enumerate() {
        let place = TOP - 12.0 - room.above + line as f64 * LINE;
        svg.text("", [14.0, place], text);
    }
}
