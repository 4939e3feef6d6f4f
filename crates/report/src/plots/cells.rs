//! What maps of colours share: numbers in cells, and the names along both axes.

use super::axis::heading;
use super::colour_bar::ink;
use super::size::{BOTTOM, DIGIT, HEIGHT, LEFT, RIGHT, Room, TOP, WIDTH};
use crate::svg::Svg;
use crate::words::{shorten_apart, width};

/// The most names along a side; of more, every n-th is shown.
const MAX_NAMES: usize = 16;

/// The widest name, in columns of a terminal.
const MAX_NAME_COLUMNS: usize = 20;

/// The size of a cell, with so many columns and rows.
pub(super) fn size_of_cell([columns, rows]: [usize; 2]) -> [f64; 2] {
    [
        (WIDTH - RIGHT - LEFT) / columns.max(1) as f64,
        (HEIGHT - BOTTOM - TOP) / rows.max(1) as f64,
    ]
}

/// Writes into a cell the first of some texts that fits, in an ink that can be read on the colour of `share`.
pub(super) fn write(
    svg: &mut Svg,
    share: f32,
    corner: [f64; 2],
    size: [f64; 2],
    texts: impl IntoIterator<Item = String>,
) {
    let fits = |text: &String| size[0] >= (width(text) as f64 + 0.8) * DIGIT;
    if let (Some(text), true) = (texts.into_iter().find(fits), size[1] >= 14.0) {
        let middle = [corner[0] + size[0] / 2.0, corner[1] + size[1] / 2.0 + 4.0];
        svg.text(ink(share), middle, &text);
    }
}

/// Writes the names of columns and what they are below the map, the names of rows beside it, and texts above it; `row` gives the
/// middle of a row. Returns the room that they take.
pub(super) fn label(
    svg: &mut Svg,
    [across, up]: [&[String]; 2],
    size: [f64; 2],
    row: impl Fn(usize) -> f64,
    columns: &str,
    above: &[&str],
) -> Room {
    let shown = |names: &[String]| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let every = names.len().div_ceil(MAX_NAMES).max(1);
        let shown = shorten_apart(&names, MAX_NAME_COLUMNS);
        let widest = shown.iter().map(|name| width(name)).max().unwrap_or(0) as f64 * DIGIT;
        (shown, every, widest)
    };
    let bottom = HEIGHT - BOTTOM;
    let (across, every, widest) = shown(across);
    let is_crowded = widest + DIGIT > size[0] * every as f64;
    for (index, name) in across.iter().enumerate().step_by(every) {
        let middle = LEFT + (index as f64 + 0.5) * size[0];
        if is_crowded {
            svg.upright("end", [middle + 4.0, bottom + 8.0], name);
        } else {
            svg.text("middle", [middle, bottom + 16.0], name);
        }
    }
    let mut room = Room::default();
    if is_crowded {
        room.below = (widest - 12.0).max(0.0);
    }
    let (up, every, widest) = shown(up);
    for (index, name) in up.iter().enumerate().step_by(every) {
        svg.text("end", [LEFT - 6.0, row(index) + 4.0], name);
    }
    room.left = (widest - (LEFT - 6.0)).max(0.0);
    let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
    svg.text("middle", [middle, HEIGHT - 10.0 + room.below], columns);
    room.above = heading(svg, above);
    room
}
