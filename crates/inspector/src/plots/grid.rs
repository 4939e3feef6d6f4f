//! A quantity at each pair of settings, as a map of colours in a panel of its own.

use super::cells::{names, size_of_cell, write};
use super::colour_bar::{MASKED, colours, fill};
use super::size::{BOTTOM, DIGIT, HEIGHT, LEFT, LETTER, LINE, RIGHT, Room, TOP, WIDTH};
use crate::svg::Svg;
use crate::words::{number, width, wrap_tightly};

/// The colour bar: its distance from the map, and its width.
const GAP: f64 = 10.0;
const BAR: f64 = 10.0;

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
    let size = size(grid);
    let middle = |row| HEIGHT - BOTTOM - (row as f64 + 0.5) * size[1];
    let [across, up] = &grid.names;
    let mut room = Room {
        right: bar(&mut svg, grid, &colours),
        ..names(&mut svg, [across, up], size, middle)
    };
    labels(&mut svg, grid, &mut room);
    Some((svg, room))
}

/// The size of a cell.
fn size(grid: &GridPlot) -> [f64; 2] {
    size_of_cell([grid.names[0].len(), grid.names[1].len()])
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
            let shorter = (grid.decimals.min(1)..=grid.decimals.min(3)).rev();
            let texts = shorter.map(|decimals| number(Some(*value), decimals));
            write(svg, share, corner, size, texts);
        }
    }
}

/// The colours, with the least and the largest value beside them. Returns the room that they take.
fn bar(svg: &mut Svg, grid: &GridPlot, range: &Colours) -> f64 {
    let left = WIDTH - RIGHT + GAP;
    colours(svg, [left, TOP], [BAR, HEIGHT - BOTTOM - TOP]);
    let mut room = 0.0_f64;
    for (value, baseline) in [(range.most, TOP + 9.0), (range.least, HEIGHT - BOTTOM)] {
        let text = number(Some(value), grid.decimals.min(3));
        let from = left + BAR + 4.0;
        room = room.max(from + width(&text) as f64 * DIGIT - WIDTH);
        svg.text("quiet", [from, baseline], &text);
        // One value has one colour.
        if range.least >= range.most {
            break;
        }
    }
    room
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
