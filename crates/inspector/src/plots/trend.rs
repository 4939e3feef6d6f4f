//! A quantity with its range at each of several numbers, in a panel of its own.

use super::axis::{Axis, frame};
use super::panels::Ranges;
use super::size::Room;
use crate::svg::Svg;

/// A line through the centres, in a band from the lower ends to the upper ones. `None` without two numbers, or without ranges.
pub(super) fn trend(
    labels: &[String; 2],
    (values, names): (&[f64], &[String]),
    ranges: &Ranges,
) -> Option<(Svg, Room)> {
    let known = || ranges.iter().flatten();
    let lowest = known().map(|range| range[0]).reduce(f64::min)?;
    let highest = known().map(|range| range[2]).reduce(f64::max)?;
    if values.len() < 2 {
        return None;
    }
    let (x, y) = (Axis::values(values, names), Axis::around(lowest, highest));
    let places = values.iter().zip(ranges);
    let places: Vec<[[f64; 2]; 3]> = places
        .filter_map(|(&value, range)| {
            let range = range.as_ref()?;
            Some(range.map(|end| [x.place(value), y.place(end)]))
        })
        .collect();
    let mut svg = Svg::default();
    let back = places.iter().rev().map(|[low, ..]| *low);
    let band: Vec<[f64; 2]> = places.iter().map(|[.., high]| *high).chain(back).collect();
    svg.path("outer", &band, "Z");
    let centres: Vec<[f64; 2]> = places.iter().map(|[_, centre, _]| *centre).collect();
    svg.path("line", &centres, "");
    for [low, centre, high] in &places {
        // A band of one range has no width.
        if places.len() == 1 {
            svg.path("range0", &[*low, *high], "");
        }
        svg.disc("set0", *centre, 3.0);
    }
    let room = frame(&mut svg, (&x, &labels[0]), (&y, &labels[1]));
    Some((svg, room))
}
