//! Maps of colours, each in a panel of its own: a quantity at each pair of settings, and a matrix of counts.

use super::cells::{label, size_of_cell, write};
use super::colour_bar::{MASKED, colours, fill};
use super::histogram::half_range;
use super::size::{BOTTOM, DIGIT, HEIGHT, LEFT, RIGHT, Room, TOP, WIDTH};
use crate::svg::Svg;
use crate::words::{counted, number, width};

/// The colour bar: its distance from the map, and its width.
const GAP: f64 = 10.0;
const BAR: f64 = 10.0;

/// The most rows and columns of a matrix that are drawn.
const MAX_ROWS_OR_COLUMNS: usize = 64;

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

/// The place of a value in the scale of colours.
fn share([least, most]: [f64; 2], value: f64) -> f32 {
    match half_range(least, most) {
        range if range > 0.0 => (half_range(least, value) / range) as f32,
        _ => 0.5,
    }
}

pub(super) fn grid(grid: &GridPlot) -> Option<(Svg, Room)> {
    let cells_of = || grid.cells.iter().flatten().flatten();
    let known = || cells_of().map(|(value, _)| *value);
    let ends = [known().reduce(f64::min)?, known().reduce(f64::max)?];
    let mut svg = Svg::default();
    svg.group("class=\"colour\"", |svg| cells(svg, grid, ends));
    let size = size(grid);
    let middle = |row| HEIGHT - BOTTOM - (row as f64 + 0.5) * size[1];
    let [across, up] = &grid.names;
    let above: [&str; 2] = [&grid.quantity, &grid.labels[1]];
    let room = Room {
        right: bar(&mut svg, grid, ends),
        ..label(
            &mut svg,
            [across, up],
            size,
            middle,
            &grid.labels[0],
            &above,
        )
    };
    Some((svg, room))
}

/// The size of a cell.
fn size(grid: &GridPlot) -> [f64; 2] {
    size_of_cell([grid.names[0].len(), grid.names[1].len()])
}

fn cells(svg: &mut Svg, grid: &GridPlot, ends: [f64; 2]) {
    let size = size(grid);
    for (row, cells) in grid.cells.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            let top = HEIGHT - BOTTOM - (row + 1) as f64 * size[1];
            let corner = [LEFT + column as f64 * size[0], top];
            let [across, up] = &grid.labels;
            let (x, y) = (&grid.names[0][column], &grid.names[1][row]);
            let place = format!("{across} = {x}, {up} = {y}");
            let Some((value, runs)) = cell else {
                svg.named_rect(MASKED, corner, size, &format!("{place}: no runs"));
                continue;
            };
            let share = share(ends, *value);
            let written = number(Some(*value), grid.decimals);
            let name = format!("{place}: {written}, mean of {}", counted(*runs, "run"));
            svg.named_rect(&fill(share), corner, size, &name);
            // Fewer decimals rather than no number.
            let shorter = (grid.decimals.min(1)..=grid.decimals.min(3)).rev();
            let texts = shorter.map(|decimals| number(Some(*value), decimals));
            write(svg, share, corner, size, texts);
        }
    }
}

/// The colours, with the least and the largest value beside them. Returns the room that they take.
fn bar(svg: &mut Svg, grid: &GridPlot, [least, most]: [f64; 2]) -> f64 {
    let left = WIDTH - RIGHT + GAP;
    colours(svg, [left, TOP], [BAR, HEIGHT - BOTTOM - TOP]);
    let mut room = 0.0_f64;
    for (value, baseline) in [(most, TOP + 9.0), (least, HEIGHT - BOTTOM)] {
        let text = number(Some(value), grid.decimals.min(3));
        let from = left + BAR + 4.0;
        room = room.max(from + width(&text) as f64 * DIGIT - WIDTH);
        svg.text("quiet", [from, baseline], &text);
        // One value has one colour.
        if least >= most {
            break;
        }
    }
    room
}

/// A square matrix of counts. Rows are counted from the top. A cell's colour is its share of the row.
pub(super) fn matrix(
    labels: &[String; 2],
    classes: &[String],
    rows: &[Vec<usize>],
) -> Option<(Svg, Room)> {
    let count = rows.len();
    if !(1..=MAX_ROWS_OR_COLUMNS).contains(&count) {
        return None;
    }
    let size = size_of_cell([count; 2]);
    let mut svg = Svg::default();
    svg.group("class=\"colour\"", |svg| {
        for (row, counts) in rows.iter().enumerate() {
            let samples: usize = counts.iter().sum();
            for (column, &counted) in counts.iter().enumerate() {
                let share = counted as f32 / samples.max(1) as f32;
                let corner = [LEFT + column as f64 * size[0], TOP + row as f64 * size[1]];
                svg.rect(&fill(share), corner, size);
                write(svg, share, corner, size, [counted.to_string()]);
            }
        }
    });
    let middle = |row| TOP + (row as f64 + 0.5) * size[1];
    let [across, up] = labels;
    let room = label(&mut svg, [classes; 2], size, middle, across, &[up]);
    Some((svg, room))
}
