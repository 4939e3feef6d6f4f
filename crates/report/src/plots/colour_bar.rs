//! The scale of a heatmap's colours, beside it.

use super::colour_range::ColourScale;
use crate::svg::Svg;
use crate::theme::{takes_black_ink, viridis};

/// The room that a colour bar needs with the texts beside it.
pub(super) const BAR_WIDTH: f64 = 150.0;

/// The number of colours in it.
const STEPS: usize = 50;

/// The attribute that fills a shape with the colour of `share`.
pub(super) fn fill(share: f32) -> String {
    let [r, g, b] = viridis(share);
    format!("fill=\"#{r:02x}{g:02x}{b:02x}\"")
}

/// The attribute that fills a shape of a key that the query may not look at.
pub(super) const MASKED: &str = "fill=\"url(#hatch)\"";

/// The class of a number on the colour of `share`.
pub(super) fn ink(share: f32) -> &'static str {
    if takes_black_ink(viridis(share)) {
        "middle on-light"
    } else {
        "middle on-dark"
    }
}

/// Draws all colours downwards from the last.
pub(super) fn colours(svg: &mut Svg, [x, top]: [f64; 2], [width, length]: [f64; 2]) {
    let step = length / STEPS as f64;
    svg.group("class=\"colour\"", |svg| {
        for index in 0..STEPS {
            let share = 1.0 - (index as f32 + 0.5) / STEPS as f32;
            let y = top + index as f64 * step;
            svg.rect(&fill(share), [x, y], [width, step + 0.5]);
        }
    });
}

/// Draws the colours of a scale, with the values that it names.
pub(super) fn colour_bar(svg: &mut Svg, scale: &ColourScale, [x, top]: [f64; 2], length: f64) {
    colours(svg, [x, top], [12.0, length]);
    for (place, text) in scale.marks() {
        // Within the bar, as a text stands above its baseline.
        let y = top + 9.0 + (1.0 - f64::from(place)) * (length - 9.0);
        svg.text("quiet", [x + 17.0, y], &text);
    }
}
