//! A square matrix of counts, in a panel of its own.

use super::colour_bar::fill;
use super::size::{BOTTOM, HEIGHT, LEFT, RIGHT, Room, TOP, WIDTH};
use crate::svg::Svg;
use crate::theme::{takes_black_ink, viridis};
use crate::words::{shorten_apart, width};

/// The most rows and columns that are drawn.
const MOST: usize = 64;

/// The most names along a side; of more, every n-th is shown.
const MOST_NAMES: usize = 16;

/// The widest name, in columns of a terminal.
const MOST_NAME: usize = 20;

/// The width of a digit, and about that of a letter.
const DIGIT: f64 = 7.0;

/// Rows are counted from the top. A cell's colour is its share of the row.
pub(super) fn matrix(
    labels: &[String; 2],
    names: &[String],
    rows: &[Vec<usize>],
) -> Option<(Svg, Room)> {
    let count = rows.len();
    if !(1..=MOST).contains(&count) {
        return None;
    }
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let size = [right - LEFT, bottom - TOP].map(|side| side / count as f64);
    let mut svg = Svg::default();
    svg.group("class=\"colour\"", |svg| {
        for (row, counts) in rows.iter().enumerate() {
            let samples: usize = counts.iter().sum();
            for (column, &counted) in counts.iter().enumerate() {
                let share = counted as f32 / samples.max(1) as f32;
                let corner = [LEFT + column as f64 * size[0], TOP + row as f64 * size[1]];
                svg.rect(&fill(share), corner, size);
                let written = counted.to_string();
                if size[0] < (written.len() + 1) as f64 * DIGIT || size[1] < 14.0 {
                    continue;
                }
                let ink = if takes_black_ink(viridis(share)) {
                    "on-light"
                } else {
                    "on-dark"
                };
                let middle = [corner[0] + size[0] / 2.0, corner[1] + size[1] / 2.0 + 4.0];
                svg.text(&format!("middle {ink}"), middle, &written);
            }
        }
    });
    let every = count.div_ceil(MOST_NAMES);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let names = shorten_apart(&names, MOST_NAME);
    let widest = names.iter().map(|name| width(name)).max().unwrap_or(0) as f64 * DIGIT;
    let is_crowded = widest + DIGIT > size[0] * every as f64;
    for (class, name) in names.iter().enumerate().step_by(every) {
        let along = class as f64 + 0.5;
        let across = LEFT + along * size[0];
        if is_crowded {
            svg.upright("end", [across + 4.0, bottom + 8.0], name);
        } else {
            svg.text("middle", [across, bottom + 16.0], name);
        }
        svg.text("end", [LEFT - 6.0, TOP + along * size[1] + 4.0], name);
    }
    let room = Room {
        left: (widest - (LEFT - 6.0)).max(0.0),
        below: if is_crowded {
            (widest - 12.0).max(0.0)
        } else {
            0.0
        },
        ..Room::default()
    };
    let middle = f64::midpoint(LEFT, right);
    svg.text("middle", [middle, HEIGHT - 10.0 + room.below], &labels[0]);
    svg.text("", [14.0, TOP - 12.0], &labels[1]);
    Some((svg, room))
}
