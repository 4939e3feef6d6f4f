//! The plots, each in a panel of its own: `None` for a plot without values.

use super::axis::{Axis, Scale, frame};
use super::legend::{Swatch, legend};
use super::size::{LEFT, LETTER, RIGHT, Room, TOP, WIDTH};
use crate::HistogramPlot;
use crate::svg::Svg;
use crate::words::width;

/// The lower end, the centre and the upper end for each group; `None` for a group without values.
pub(crate) type Ranges = Vec<Option<[f64; 3]>>;

/// The most points that a scatter plot shows.
const MAX_POINTS: usize = 2000;

pub(super) fn histogram(
    label: &str,
    values: &[f64],
    mark: Option<&(f64, String)>,
) -> Option<(Svg, Room)> {
    let bins = HistogramPlot::of(values)?;
    let count = bins.counts.len();
    let (mut from, mut to) = (bins.edge(0), bins.edge(count));
    if let Some((value, _)) = mark {
        (from, to) = (from.min(*value), to.max(*value));
    }
    let x = Axis::across(from, to);
    let y = Axis::up(0.0, *bins.counts.iter().max()? as f64).with(Scale::Whole);
    let mut svg = Svg::default();
    for (bin, &runs) in bins.counts.iter().enumerate() {
        let [left, right] = [bin, bin + 1].map(|edge| x.place(bins.edge(edge)));
        let top = y.place(runs as f64);
        let size = [(right - left - 1.0).max(0.5), y.start - top];
        svg.rect("class=\"bar\"", [left, top], size);
    }
    if let Some((value, name)) = mark {
        let place = x.place(*value);
        svg.path("mark", &[[place, TOP], [place, y.start]], "");
        let (class, beside) = if place + 4.0 + width(name) as f64 * LETTER > WIDTH {
            ("mark-name end", place - 4.0)
        } else {
            ("mark-name", place + 4.0)
        };
        svg.text(class, [beside, TOP + 10.0], name);
    }
    let room = frame(&mut svg, (&x, label), (&y, "runs"));
    Some((svg, room))
}

pub(super) fn scatter(labels: &[String; 2], points: &[[f64; 2]]) -> Option<(Svg, Room)> {
    let bins = |axis: usize| {
        let values: Vec<f64> = points.iter().map(|point| point[axis]).collect();
        let bins = HistogramPlot::of(&values)?;
        Some((bins.edge(0), bins.edge(bins.counts.len())))
    };
    let ((left, right), (low, high)) = (bins(0)?, bins(1)?);
    let (x, y) = (Axis::across(left, right), Axis::up(low, high));
    let every = points.len().div_ceil(MAX_POINTS);
    let mut svg = Svg::default();
    for (number, chunk) in points.chunks(every).enumerate() {
        // One point per chunk, at a varying place: a grid's points take turns.
        let offset = (number as u32).wrapping_mul(0x9e37_79b9) >> 8;
        let [a, b] = chunk[offset as usize % chunk.len()];
        svg.disc("dot", [x.place(a), y.place(b)], 2.2);
    }
    let thinned = match every {
        1 => labels[1].clone(),
        _ => format!("{} (one run in {every} shown)", labels[1]),
    };
    let room = frame(&mut svg, (&x, &labels[0]), (&y, &thinned));
    Some((svg, room))
}

pub(super) fn bands(
    labels: &[String; 2],
    times: &[f64],
    quantiles: &[[f64; 5]],
    names: &[String; 3],
) -> Option<(Svg, Room)> {
    let (first, last) = (*times.first()?, *times.last()?);
    let lowest = quantiles.iter().map(|row| row[0]).reduce(f64::min)?;
    let highest = quantiles.iter().map(|row| row[4]).reduce(f64::max)?;
    let above = |value: f64, low: f64, otherwise: f64| if value > low { value } else { otherwise };
    let x = Axis::across(first, above(last, first, first + 1.0)).with(Scale::Whole);
    // Losses fall by powers of ten.
    let y = if lowest > 0.0 {
        Axis::up(lowest, above(highest, lowest, lowest * 2.0)).with(Scale::Logarithmic)
    } else {
        Axis::up(lowest, above(highest, lowest, lowest + 1.0))
    };
    let curve = |quantile: usize| -> Vec<[f64; 2]> {
        let rows = times.iter().zip(quantiles);
        rows.map(|(&time, row)| [x.place(time), y.place(row[quantile])])
            .collect()
    };
    let mut svg = Svg::default();
    for (class, low, high) in [("outer", 0, 4), ("inner", 1, 3)] {
        let back = curve(low).into_iter().rev();
        let corners: Vec<[f64; 2]> = curve(high).into_iter().chain(back).collect();
        svg.path(class, &corners, "Z");
    }
    svg.path("line", &curve(2), "");
    let mut room = frame(&mut svg, (&x, &labels[0]), (&y, &labels[1]));
    let shown = ["outer", "inner", "set0"].into_iter().zip([8.0, 8.0, 2.0]);
    let swatch = |(class, height)| Swatch::Stripe(format!("class=\"{class}\""), height);
    legend(
        &mut svg,
        &mut room,
        shown.map(swatch).zip(names.iter().map(String::as_str)),
    );
    Some((svg, room))
}

/// Of groups that are numbers, a line goes through the centres, in a band from the lower ends to the upper ones.
pub(super) fn ranges(
    labels: &[String; 2],
    (groups, numbers): (&[String], &[f64]),
    sets: &[(String, Ranges)],
    mark: Option<&(f64, String)>,
) -> Option<(Svg, Room)> {
    let all = || sets.iter().flat_map(|(_, ranges)| ranges.iter().flatten());
    let lowest = all().map(|range| range[0]).reduce(f64::min)?;
    let highest = all().map(|range| range[2]).reduce(f64::max)?;
    let marked = mark.map_or(lowest, |(value, _)| *value);
    let x = match numbers {
        [] => Axis::names(groups),
        [_] => return None,
        _ => Axis::values(numbers, groups),
    };
    let y = Axis::around(lowest.min(marked), highest.max(marked));
    let right = WIDTH - RIGHT;
    let mut svg = Svg::default();
    // Drawn first, so that its name hides no range.
    if let Some((value, name)) = mark {
        let place = y.place(*value);
        svg.path("mark", &[[LEFT, place], [right, place]], "");
        svg.text("mark-name end", [right, place - 4.0], name);
    }
    for (set, (_, ranges)) in sets.iter().enumerate() {
        let [line, dot] = ["range", "set"].map(|kind| format!("{kind}{}", set % 2));
        // Sets stand beside one another.
        let aside = (set as f64 - (sets.len() - 1) as f64 / 2.0) * 8.0;
        let places = ranges.iter().enumerate().filter_map(|(group, range)| {
            let value = numbers.get(group).copied().unwrap_or(group as f64);
            Some((*range)?.map(|end| [x.place(value) + aside, y.place(end)]))
        });
        let places: Vec<[[f64; 2]; 3]> = places.collect();
        if !numbers.is_empty() {
            let back = places.iter().rev().map(|[low, ..]| *low);
            let band: Vec<[f64; 2]> = places.iter().map(|[.., high]| *high).chain(back).collect();
            svg.path("outer", &band, "Z");
            let centres: Vec<[f64; 2]> = places.iter().map(|[_, centre, _]| *centre).collect();
            svg.path("line", &centres, "");
        }
        for [low, centre, high] in &places {
            // A band of one range has no width.
            if numbers.is_empty() || places.len() == 1 {
                svg.path(&line, &[*low, *high], "");
            }
            svg.disc(&dot, *centre, 3.0);
        }
    }
    let mut room = frame(&mut svg, (&x, &labels[0]), (&y, &labels[1]));
    let swatch = |set: usize| Swatch::Dot(["set0", "set1"][set % 2]);
    let named = sets.iter().map(|(name, _)| name.as_str()).enumerate();
    let named = named.filter(|(_, name)| !name.is_empty());
    legend(
        &mut svg,
        &mut room,
        named.map(|(set, name)| (swatch(set), name)),
    );
    Some((svg, room))
}
