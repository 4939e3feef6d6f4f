//! A square matrix of counts, in a panel of its own.

use super::axis::heading;
use super::cells::{across_label, names, size_of_cell, write};
use super::colour_bar::fill;
use super::size::{LEFT, Room, TOP};
use crate::svg::Svg;

/// The most rows and columns that are drawn.
const MOST: usize = 64;

/// Rows are counted from the top. A cell's colour is its share of the row.
pub(super) fn matrix(
    labels: &[String; 2],
    classes: &[String],
    rows: &[Vec<usize>],
) -> Option<(Svg, Room)> {
    let count = rows.len();
    if !(1..=MOST).contains(&count) {
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
    let room = names(&mut svg, [classes; 2], size, middle);
    across_label(&mut svg, &room, &labels[0]);
    heading(&mut svg, &[&labels[1]]);
    Some((svg, room))
}
