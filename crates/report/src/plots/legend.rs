//! The names of sets of values, above a panel.

use super::size::{LETTER, LINE, Room, TOP, WIDTH};
use crate::svg::Svg;
use crate::words::{width, wrap_tightly};

const LEFT: f64 = 14.0;

/// The room of a swatch, with the gap to its name.
const SWATCH: f64 = 20.0;

/// What stands for a set of values.
pub(super) enum Swatch {
    Dot(&'static str),
    /// A rectangle of this height, with its paint as attributes.
    Stripe(String, f64),
}

impl Swatch {
    fn draw(&self, svg: &mut Svg, [left, middle]: [f64; 2]) {
        match self {
            Self::Dot(class) => svg.disc(class, [left + 7.0, middle], 3.0),
            Self::Stripe(paint, height) => {
                svg.rect(paint, [left, middle - height / 2.0], [14.0, *height]);
            }
        }
    }
}

/// Names sets of values where no value lies: beside one another, in as many lines as they need.
pub(super) fn legend<'a>(
    svg: &mut Svg,
    room: &mut Room,
    entries: impl Iterator<Item = (Swatch, &'a str)>,
) {
    let columns = ((WIDTH - LEFT - SWATCH) / LETTER) as usize;
    let mut places = Vec::new();
    let (mut left, mut line) = (LEFT, 0);
    for (swatch, name) in entries {
        let texts = wrap_tightly(name, columns);
        let widest = texts.iter().map(|text| width(text)).max().unwrap_or(0);
        let wide = SWATCH + widest as f64 * LETTER;
        if left > LEFT && (left + wide > WIDTH || texts.len() > 1) {
            (left, line) = (LEFT, line + 1);
        }
        let lines = texts.len();
        places.push((swatch, texts, left, line));
        if lines > 1 {
            (left, line) = (LEFT, line + lines);
        } else {
            left += wide;
        }
    }
    let last = places.last();
    let lines = last.map_or(0, |(_, texts, _, line)| line + texts.len());
    room.above += lines as f64 * LINE;
    for (swatch, texts, left, line) in places {
        let baseline = |line: usize| TOP - 12.0 - room.above + line as f64 * LINE;
        swatch.draw(svg, [left, baseline(line) - 4.0]);
        for (more, text) in texts.iter().enumerate() {
            svg.text("", [left + SWATCH, baseline(line + more)], text);
        }
    }
}
