//! What stands between the axes.

use std::fmt::Write;

use super::axis::{Axis, frame};
use super::{LEFT, RIGHT, Ranges, TOP, WIDTH};
use crate::Histogram;
use crate::markup::escape;

/// The most points that a scatter plot shows.
const MOST_POINTS: usize = 2000;

pub(super) fn histogram(
    label: &str,
    values: &[f64],
    mark: Option<&(f64, String)>,
) -> Option<String> {
    let bins = Histogram::of(values)?;
    let count = bins.counts.len();
    let (mut from, mut to) = (bins.edge(0), bins.edge(count));
    if let Some((value, _)) = mark {
        (from, to) = (from.min(*value), to.max(*value));
    }
    let x = Axis::across(from, to);
    let most = *bins.counts.iter().max()? as f64;
    let y = Axis::up(0.0, most);
    let mut text = String::new();
    for (bin, &runs) in bins.counts.iter().enumerate() {
        let (left, right) = (x.place(bins.edge(bin)), x.place(bins.edge(bin + 1)));
        let top = y.place(runs as f64);
        let _ = writeln!(
            text,
            r#"<rect class="bar" x="{left:.1}" y="{top:.1}" width="{:.1}" height="{:.1}"/>"#,
            (right - left - 1.0).max(0.5),
            y.start - top
        );
    }
    if let Some((value, name)) = mark {
        let place = x.place(*value);
        let _ = writeln!(
            text,
            r#"<path class="mark" d="M{place:.1} {TOP}V{}"/><text class="marked" x="{:.1}" y="{}">{}</text>"#,
            y.start,
            place + 4.0,
            TOP + 10.0,
            escape(name)
        );
    }
    frame(&mut text, (&x, label), (&y, "runs"));
    Some(text)
}

pub(super) fn scatter(labels: &[String; 2], points: &[[f64; 2]]) -> Option<String> {
    let of = |axis: usize| {
        points
            .iter()
            .map(move |point| point[axis])
            .collect::<Vec<_>>()
    };
    let (across, up) = (Histogram::of(&of(0))?, Histogram::of(&of(1))?);
    let x = Axis::across(across.edge(0), across.edge(across.counts.len()));
    let y = Axis::up(up.edge(0), up.edge(up.counts.len()));
    let every = points.len().div_ceil(MOST_POINTS);
    let mut text = String::new();
    for (number, run) in points.chunks(every).enumerate() {
        // One of each so many, but not always at the same place: a grid's points take turns.
        let place = (number as u32).wrapping_mul(0x9e37_79b9) >> 8;
        let [a, b] = run[place as usize % run.len()];
        let _ = writeln!(
            text,
            r#"<circle class="dot" cx="{:.1}" cy="{:.1}" r="2.2"/>"#,
            x.place(a),
            y.place(b)
        );
    }
    let thinned = match every {
        1 => labels[1].clone(),
        _ => format!("{} (one run in {every} shown)", labels[1]),
    };
    frame(&mut text, (&x, &labels[0]), (&y, &thinned));
    Some(text)
}

pub(super) fn bands(
    labels: &[String; 2],
    times: &[f64],
    quantiles: &[[f64; 5]],
    names: &[String; 3],
) -> Option<String> {
    let (first, last) = (*times.first()?, *times.last()?);
    let lowest = quantiles.iter().map(|row| row[0]).reduce(f64::min)?;
    let highest = quantiles.iter().map(|row| row[4]).reduce(f64::max)?;
    let x = Axis::across(first, if last > first { last } else { first + 1.0 }).whole();
    // Losses fall by powers of ten.
    let y = if lowest > 0.0 {
        let highest = if highest > lowest {
            highest
        } else {
            lowest * 2.0
        };
        Axis::up(lowest, highest).logarithmic()
    } else {
        Axis::up(
            lowest,
            if highest > lowest {
                highest
            } else {
                lowest + 1.0
            },
        )
    };
    let place = |index: usize, quantile: usize| {
        let value = y.place(quantiles[index][quantile]);
        format!("{:.1} {value:.1}", x.place(times[index]))
    };
    let mut text = String::new();
    for (class, low, high) in [("outer", 0, 4), ("inner", 1, 3)] {
        let there = (0..times.len()).map(|index| place(index, high));
        let back = (0..times.len()).rev().map(|index| place(index, low));
        let corners: Vec<String> = there.chain(back).collect();
        let _ = writeln!(
            text,
            r#"<path class="{class}" d="M{}Z"/>"#,
            corners.join("L")
        );
    }
    let line: Vec<String> = (0..times.len()).map(|index| place(index, 2)).collect();
    let _ = writeln!(text, r#"<path class="line" d="M{}"/>"#, line.join("L"));
    for (row, (class, name)) in ["outer", "inner", "set0"].iter().zip(names).enumerate() {
        // Losses fall: there is room below, where training begins.
        let top = y.start - 52.0 + row as f64 * 16.0;
        let height = if *class == "set0" { 2.0 } else { 8.0 };
        let _ = writeln!(
            text,
            r#"<rect class="{class}" x="{}" y="{}" width="14" height="{height}"/><text x="{}" y="{}">{}</text>"#,
            LEFT + 6.0,
            top + 4.0 - height / 2.0,
            LEFT + 26.0,
            top + 8.0,
            escape(name)
        );
    }
    frame(&mut text, (&x, &labels[0]), (&y, &labels[1]));
    Some(text)
}

pub(super) fn ranges(
    labels: &[String; 2],
    groups: &[String],
    sets: &[(String, Ranges)],
    mark: Option<&(f64, String)>,
) -> Option<String> {
    let all = || sets.iter().flat_map(|(_, ranges)| ranges.iter().flatten());
    let lowest = all().map(|range| range[0]).reduce(f64::min)?;
    let highest = all().map(|range| range[2]).reduce(f64::max)?;
    let marked = mark.map_or(lowest, |(value, _)| *value);
    let (lowest, highest) = (lowest.min(marked), highest.max(marked));
    let room = match (highest - lowest) * 0.08 {
        room if room > 0.0 => room,
        _ => highest.abs().max(1e-9) * 0.1,
    };
    // Shares are shown from 0 where that costs little.
    let from = if lowest >= 0.0 && lowest < highest / 2.0 {
        0.0
    } else {
        lowest - room
    };
    let (x, y) = (Axis::names(groups), Axis::up(from, highest + room));
    let mut text = String::new();
    // Below the ranges: its name must not hide one.
    if let Some((value, name)) = mark {
        let place = y.place(*value);
        let _ = writeln!(
            text,
            r#"<path class="mark" d="M{LEFT} {place:.1}H{}"/><text class="marked" text-anchor="end" x="{}" y="{:.1}">{}</text>"#,
            WIDTH - RIGHT,
            WIDTH - RIGHT,
            place - 4.0,
            escape(name)
        );
    }
    for (set, (name, ranges)) in sets.iter().enumerate() {
        let class = set % 2;
        // Sets stand beside one another.
        let aside = (set as f64 - (sets.len() - 1) as f64 / 2.0) * 8.0;
        for (group, range) in ranges.iter().enumerate() {
            let Some([low, centre, high]) = range else {
                continue;
            };
            let across = x.place(group as f64) + aside;
            let _ = writeln!(
                text,
                r#"<path class="range{class}" d="M{across:.1} {:.1}V{:.1}"/><circle class="set{class}" cx="{across:.1}" cy="{:.1}" r="3"/>"#,
                y.place(*low),
                y.place(*high),
                y.place(*centre)
            );
        }
        if !name.is_empty() {
            let top = TOP + 6.0 + set as f64 * 16.0;
            let _ = writeln!(
                text,
                r#"<circle class="set{class}" cx="{}" cy="{}" r="3"/><text class="end" x="{}" y="{}">{}</text>"#,
                WIDTH - RIGHT - 6.0,
                top + 4.0,
                WIDTH - RIGHT - 14.0,
                top + 8.0,
                escape(name)
            );
        }
    }
    frame(&mut text, (&x, &labels[0]), (&y, &labels[1]));
    Some(text)
}
