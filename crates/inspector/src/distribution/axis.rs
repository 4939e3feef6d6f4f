//! Axes: where values are, and the numbers beside them.

use std::fmt::Write;

use super::{BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH};
use crate::histogram::{decimals, round_up};
use crate::markup::escape;

/// Maps values to places along an axis.
pub(super) struct Axis {
    from: f64,
    to: f64,
    pub(super) start: f64,
    pub(super) end: f64,
    scale: Scale,
}

enum Scale {
    Linear,
    /// Of whole numbers.
    Whole,
    /// Ten times as much is as far everywhere.
    Logarithmic,
    /// Names, a step each, beginning with 0.
    Names(Vec<String>),
}

/// The most names that stand beside each other; of more every so manieth does.
const MOST_NAMES: usize = 8;

/// The longest name, in characters.
const NAME: usize = 14;

impl Axis {
    pub(super) fn across(from: f64, to: f64) -> Self {
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
            from,
            to,
            start: HEIGHT - BOTTOM,
            end: TOP,
            scale: Scale::Linear,
        }
    }

    pub(super) fn whole(self) -> Self {
        Self {
            scale: Scale::Whole,
            ..self
        }
    }

    /// From and to above 0.
    pub(super) fn logarithmic(self) -> Self {
        Self {
            scale: Scale::Logarithmic,
            ..self
        }
    }

    pub(super) fn names(names: &[String]) -> Self {
        Self {
            scale: Scale::Names(names.to_vec()),
            ..Self::across(-0.5, names.len() as f64 - 0.5)
        }
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Logarithmic => (value / self.from).ln() / (self.to / self.from).ln(),
            _ => (value - self.from) / (self.to - self.from),
        };
        self.start + share * (self.end - self.start)
    }

    /// A few round numbers along the axis, or its names, and how they are written.
    fn ticks(&self) -> Vec<(f64, String)> {
        match &self.scale {
            Scale::Linear => self.multiples(0.0),
            Scale::Whole => self.multiples(1.0),
            Scale::Logarithmic => self.powers(),
            Scale::Names(names) => {
                let every = names.len().div_ceil(MOST_NAMES).max(1);
                let shown = names.iter().enumerate().step_by(every);
                shown
                    .map(|(index, name)| (index as f64, short(name)))
                    .collect()
            }
        }
    }

    /// Multiples of a round step that is not below `least`.
    fn multiples(&self, least: f64) -> Vec<(f64, String)> {
        let step = round_up((self.to - self.from) / 5.0, self.to.abs()).max(least);
        let decimals = decimals(step);
        let first = (self.from / step - 1e-9).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        let written = |value: f64| {
            // There is no room for more digits.
            if self.to >= 1e5 && step >= 1000.0 {
                format!("{:.0}k", value / 1000.0)
            } else {
                format!("{value:.decimals$}")
            }
        };
        (first..=last)
            .map(|multiple| multiple as f64 * step)
            .map(|value| (value, written(value)))
            .collect()
    }

    /// Powers of ten, and 2 and 5 times them where there are few.
    fn powers(&self) -> Vec<(f64, String)> {
        let (first, last) = (
            self.from.log10().floor() as i32,
            self.to.log10().ceil() as i32,
        );
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

fn short(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    name.chars().take(NAME - 1).chain(['…']).collect()
}

/// The axes' lines, ticks and labels.
pub(super) fn frame(text: &mut String, (x, across): (&Axis, &str), (y, up): (&Axis, &str)) {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    let _ = writeln!(
        text,
        r#"<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>"#
    );
    for (value, number) in x.ticks() {
        let place = x.place(value);
        let _ = writeln!(
            text,
            r#"<path class="axis" d="M{place:.1} {bottom}v4"/><text class="middle" x="{place:.1}" y="{}">{}</text>"#,
            bottom + 16.0,
            escape(&number)
        );
    }
    for (value, number) in y.ticks() {
        let place = y.place(value);
        let _ = writeln!(
            text,
            r#"<path class="axis" d="M{LEFT} {place:.1}h-4"/><text class="end" x="{}" y="{:.1}">{number}</text>"#,
            LEFT - 6.0,
            place + 4.0
        );
    }
    let _ = writeln!(
        text,
        r#"<text class="middle" x="{}" y="{}">{}</text><text x="{}" y="{}">{}</text>"#,
        f64::midpoint(LEFT, right),
        HEIGHT - 10.0,
        escape(across),
        14.0,
        TOP - 12.0,
        escape(up)
    );
}
