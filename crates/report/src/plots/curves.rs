//! Curves of shares against shares, in a panel of its own.

use super::axis::{Axis, frame};
use super::colour_bar::fill;
use super::legend::{Swatch, legend};
use super::size::{BOTTOM, HEIGHT, RIGHT, Room, WIDTH};
use crate::svg::Svg;

/// Up to this number of points, each is a dot too.
const MAX_DOTS: usize = 12;

/// Points nearer than this to the one before are left out, in pixels.
const NEAR: f64 = 1.0;

/// One of several curves.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its points, in order.
    pub points: Vec<[f64; 2]>,
}

pub(super) fn curves(
    labels: &[String; 2],
    curves: &[Curve],
    mark: Option<&([f64; 2], String)>,
) -> Option<(Svg, Room)> {
    curves.iter().find(|curve| !curve.points.is_empty())?;
    let (x, y) = (Axis::across(0.0, 1.0), Axis::up(0.0, 1.0));
    let mut svg = Svg::default();
    if let Some(([left, right], _)) = mark {
        let ends = [[x.start, y.place(*left)], [x.end, y.place(*right)]];
        svg.path("mark", &ends, "");
    }
    for (index, curve) in curves.iter().enumerate() {
        let points = curve.points.iter().map(|&[a, b]| [x.place(a), y.place(b)]);
        let points = spread(points);
        svg.group(&colour(index, curves.len()), |svg| {
            svg.path("curve", &points, "");
            for &point in points.iter().filter(|_| points.len() <= MAX_DOTS) {
                svg.disc("", point, 3.0);
            }
        });
    }
    if let Some((_, name)) = mark {
        // Good curves are not in the lower right corner.
        let corner = [WIDTH - RIGHT - 8.0, HEIGHT - BOTTOM - 10.0];
        svg.text("mark-name end", corner, name);
    }
    let mut room = frame(&mut svg, (&x, &labels[0]), (&y, &labels[1]));
    let named = curves.iter().enumerate();
    let named = named.map(|(index, curve)| {
        let paint = colour(index, curves.len());
        (Swatch::Stripe(paint, 2.0), curve.name.as_str())
    });
    legend(&mut svg, &mut room, named);
    Some((svg, room))
}

/// The colour of one of several curves, as attributes. The ends of the colour map are left out: they are too close to
/// dark and light paper.
fn colour(index: usize, count: usize) -> String {
    if count == 1 {
        return "class=\"only\"".to_owned();
    }
    let share = 0.25 + 0.6 * index as f32 / (count - 1) as f32;
    let fill = fill(share);
    format!("{fill} {}", fill.replace("fill", "stroke"))
}

/// The points that are not too near to the one before, and the last.
fn spread(points: impl Iterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
    let mut kept: Vec<[f64; 2]> = Vec::new();
    let mut last = None;
    for point in points {
        let near = |kept: &[f64; 2]| (0..2).all(|axis| (kept[axis] - point[axis]).abs() < NEAR);
        if !kept.last().is_some_and(near) {
            kept.push(point);
        }
        last = Some(point);
    }
    if kept.last() != last.as_ref() {
        kept.extend(last);
    }
    kept
}
