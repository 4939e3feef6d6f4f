//! Axes: the places of values, and the numbers beside them.

use super::histogram::{decimals, half_range, round_up};
use super::size::{BOTTOM, DIGIT, HEIGHT, LEFT, LETTER, LINE, RIGHT, Room, TOP, WIDTH};
use crate::svg::Svg;
use crate::words::{LONG, number, width, wrap_tightly};

/// Maps values to places along an axis.
pub(super) struct Axis {
    from: f64,
    to: f64,
    pub(super) start: f64,
    pub(super) end: f64,
    scale: Scale,
}

pub(super) enum Scale {
    Linear,
    /// Linear, with ticks at whole numbers only.
    Whole,
    /// Both ends of the axis must be above 0.
    Logarithmic,
    /// The n-th name stands at n, counted from 0.
    Names(Vec<String>),
    /// Linear or logarithmic, with ticks at these values alone.
    Values(Vec<(f64, String)>, bool),
}

/// The most names along an axis; of more names, every n-th is shown.
const MAX_NAMES: usize = 8;

/// The room between the frame and the first of several values.
const INDENT: f64 = 14.0;

/// The least room between two labels of ticks.
const GAP: f64 = 4.0;

impl Axis {
    pub(super) fn across(from: f64, to: f64) -> Self {
        let [from, to] = [from, to].map(|value| value.clamp(f64::MIN, f64::MAX));
        Self {
            from,
            to,
            start: LEFT,
            end: WIDTH - RIGHT,
            scale: Scale::Linear,
        }
    }

    pub(super) fn up(from: f64, to: f64) -> Self {
        Self {
            start: HEIGHT - BOTTOM,
            end: TOP,
            ..Self::across(from, to)
        }
    }

    /// An axis upwards with room below and above these values.
    pub(super) fn around(lowest: f64, highest: f64) -> Self {
        let room = match half_range(lowest, highest) * 0.16 {
            room if room > 0.0 => room,
            _ => highest.abs().max(1e-9) * 0.1,
        };
        // The axis starts at 0 where that leaves at least half of it to the values.
        let from = if lowest >= 0.0 && lowest < highest / 2.0 {
            0.0
        } else {
            lowest - room
        };
        Self::up(from, highest + room)
    }

    pub(super) fn with(self, scale: Scale) -> Self {
        Self { scale, ..self }
    }

    pub(super) fn names(names: &[String]) -> Self {
        let axis = Self::across(-0.5, names.len() as f64 - 0.5);
        axis.with(Scale::Names(names.to_vec()))
    }

    /// An axis with a tick at each of several ascending values, where there is room for its name. It is logarithmic if
    /// that spreads them more evenly.
    pub(super) fn values(values: &[f64], names: &[String]) -> Self {
        let named = values.iter().copied().zip(names.iter().cloned()).collect();
        let (first, last) = (values[0], values[values.len() - 1]);
        let unevenness = |place: fn(f64) -> f64| {
            let gaps = values.windows(2);
            let gaps = || gaps.clone().map(|pair| place(pair[1]) - place(pair[0]));
            gaps().fold(0.0, f64::max) / gaps().fold(f64::INFINITY, f64::min)
        };
        let is_logarithmic = first > 0.0 && unevenness(f64::ln) < unevenness(|value| value);
        Self {
            // The first and the last value stand within the frame.
            start: LEFT + INDENT,
            end: WIDTH - RIGHT - INDENT,
            scale: Scale::Values(named, is_logarithmic),
            ..Self::across(first, last)
        }
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Logarithmic | Scale::Values(_, true) => {
                (value / self.from).ln() / (self.to / self.from).ln()
            }
            _ => half_range(self.from, value) / half_range(self.from, self.to),
        };
        self.start + share * (self.end - self.start)
    }

    /// The values at which the axis has ticks, a few round numbers or its names, with their labels.
    fn ticks(&self) -> Vec<(f64, String)> {
        match &self.scale {
            Scale::Linear => self.multiples(0.0),
            Scale::Whole => self.multiples(1.0),
            Scale::Logarithmic => self.powers(),
            Scale::Values(values, _) => values.clone(),
            Scale::Names(names) => {
                let every = names.len().div_ceil(MAX_NAMES).max(1);
                let shown = names.iter().enumerate().step_by(every);
                shown
                    .map(|(index, name)| (index as f64, name.clone()))
                    .collect()
            }
        }
    }

    /// Multiples of a round step of at least `least`.
    fn multiples(&self, least: f64) -> Vec<(f64, String)> {
        let step = round_up(half_range(self.from, self.to) / 2.5, self.to.abs()).max(least);
        let decimals = decimals(step);
        let first = (self.from / step - 1e-9).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        let written = |value: f64| {
            // More digits would overlap the next number.
            if (1e5..LONG).contains(&self.to) && step >= 1000.0 {
                format!("{:.0}k", value / 1000.0)
            } else {
                number(Some(value), decimals)
            }
        };
        (first..=last)
            .map(|multiple| multiple as f64 * step)
            .map(|value| (value, written(value)))
            .collect()
    }

    /// Powers of ten; if they are few, also 2 and 5 times them.
    fn powers(&self) -> Vec<(f64, String)> {
        let [first, last] = [self.from.log10().floor(), self.to.log10().ceil()];
        let (first, last) = (first as i32, last as i32);
        let every = usize::try_from((last - first) / 5).unwrap_or(0).max(1);
        let multiples: &[f64] = if last - first <= 3 {
            &[1.0, 2.0, 5.0]
        } else {
            &[1.0]
        };
        let within = self.from * (1.0 - 1e-9)..=self.to * (1.0 + 1e-9);
        (first..=last)
            .step_by(every)
            .flat_map(|power| multiples.iter().map(move |multiple| (power, multiple)))
            .map(|(power, multiple)| (multiple * 10_f64.powi(power), power))
            .filter(|(value, _)| within.contains(value))
            .map(|(value, power)| {
                let written = match power {
                    -4..=3 => format!("{value:.*}", usize::try_from(-power).unwrap_or(0)),
                    _ => format!("{value:.0e}"),
                };
                (value, written)
            })
            .collect()
    }
}

/// Draws the axes' lines, ticks and labels, none of which is cut: they take the room that they need.
pub(super) fn frame(svg: &mut Svg, (x, across): (&Axis, &str), (y, up): (&Axis, &str)) -> Room {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    svg.path("axis", &[[LEFT, TOP], [LEFT, bottom], [right, bottom]], "");
    let mut room = ticks_across(svg, x);
    for (value, label) in y.ticks() {
        let place = y.place(value);
        svg.path("axis", &[[LEFT, place], [LEFT - 4.0, place]], "");
        svg.text("end", [LEFT - 6.0, place + 4.0], &label);
        let beyond = width(&label) as f64 * DIGIT - (LEFT - 6.0);
        room.left = room.left.max(beyond);
    }
    let middle = f64::midpoint(LEFT, right);
    let columns = (2.0 * (WIDTH - middle) / LETTER) as usize;
    let mut place = HEIGHT - 10.0 + room.below;
    for (line, text) in wrap_tightly(across, columns).iter().enumerate() {
        place += if line > 0 { LINE } else { 0.0 };
        svg.text("middle", [middle, place], text);
    }
    room.below = place - (HEIGHT - 10.0);
    room.above = heading(svg, &[up]);
    room
}

/// Writes texts above a panel. Returns the room that they take.
pub(super) fn heading(svg: &mut Svg, texts: &[&str]) -> f64 {
    let columns = ((WIDTH - 14.0) / LETTER) as usize;
    let lines = texts.iter().flat_map(|text| wrap_tightly(text, columns));
    let lines: Vec<String> = lines.collect();
    let above = lines.len().saturating_sub(1) as f64 * LINE;
    for (line, text) in lines.iter().enumerate() {
        let place = TOP - 12.0 - above + line as f64 * LINE;
        svg.text("", [14.0, place], text);
    }
    above
}

/// Draws the ticks of the lower axis. Names that do not fit beside one another stand upright; of numbers fewer are shown.
fn ticks_across(svg: &mut Svg, x: &Axis) -> Room {
    let bottom = HEIGHT - BOTTOM;
    let mut room = Room::default();
    let mut ticks = x.ticks();
    let is_named = matches!(x.scale, Scale::Names(_));
    let drawn = if is_named { LETTER } else { DIGIT };
    let widths = ticks.iter().map(|(_, label)| width(label));
    let widest = widths.max().unwrap_or(0) as f64 * drawn;
    let apart = match &ticks[..] {
        [first, second, ..] => x.place(second.0) - x.place(first.0),
        _ => x.end - x.start,
    };
    let is_crowded = widest + GAP > apart;
    if matches!(x.scale, Scale::Values(..)) {
        let mut free = f64::NEG_INFINITY;
        ticks.retain(|(value, label)| {
            let (place, half) = (x.place(*value), width(label) as f64 * drawn / 2.0);
            let fits = place - half >= free;
            if fits {
                free = place + half + GAP;
            }
            fits
        });
    } else if is_crowded && !is_named {
        let every = ((widest + GAP) / apart).ceil() as usize;
        ticks = ticks.into_iter().step_by(every).collect();
    }
    for (value, label) in &ticks {
        let place = x.place(*value);
        svg.path("axis", &[[place, bottom], [place, bottom + 4.0]], "");
        if is_crowded && is_named {
            svg.upright("end", [place + 4.0, bottom + 8.0], label);
        } else {
            svg.text("middle", [place, bottom + 16.0], label);
            let half = width(label) as f64 * drawn / 2.0;
            room.right = room.right.max(place + half - WIDTH);
        }
    }
    if is_crowded && is_named {
        room.below = (widest - 12.0).max(0.0);
    }
    room
}
