//! The theme of all that is drawn: colours for light and dark, style sheets, and the colours of values.

use std::fmt::Write;

/// CSS custom properties: the name, the value on a light screen, the value on a dark one.
const PROPERTIES: [(&str, &str, &str); 15] = [
    ("paper", "#fff", "#151517"),
    ("ink", "#1d1d1f", "#ececf0"),
    ("soft", "#5c5c63", "#a9a9b2"),
    ("line", "#d5d5da", "#3a3a40"),
    ("panel", "#f6f6f8", "#1e1e21"),
    ("accent", "#0b5cad", "#7db8f5"),
    ("positives", "#b45309", "#f0a35e"),
    ("negatives", "#0b5cad", "#7db8f5"),
    ("warn", "#a8215f", "#ff9ac2"),
    ("warn-paper", "#fbe3ee", "#44182c"),
    ("shade", "#86b8ea", "#1f5d99"),
    ("axis", "#888", "#888"),
    ("first", "#31688e", "#35b779"),
    ("second", "#e07b39", "#e07b39"),
    ("mark", "#b5367a", "#f9a242"),
];

/// The style sheet of SVG pictures, with custom properties.
const SVG_STYLE: &str = include_str!("svg.css");

/// The custom properties as CSS, for HTML.
pub fn properties() -> String {
    let (mut light, mut dark) = (String::new(), String::new());
    for (name, on_light, on_dark) in PROPERTIES {
        let _ = write!(light, ";--{name}:{on_light}");
        if on_dark != on_light {
            let _ = write!(dark, ";--{name}:{on_dark}");
        }
    }
    let dark = dark.trim_start_matches(';');
    format!(
        ":root{{color-scheme:light dark{light}}}\n@media (prefers-color-scheme: dark){{:root{{{dark}}}}}\n"
    )
}

/// The style sheet of SVG pictures, with values in place of custom properties: few programs that draw
/// SVG know those.
pub(crate) fn svg_style() -> String {
    let resolved = |dark: bool| {
        PROPERTIES
            .iter()
            .fold(SVG_STYLE.to_owned(), |style, (name, light, on_dark)| {
                style.replace(
                    &format!("var(--{name})"),
                    if dark { on_dark } else { light },
                )
            })
    };
    let (light, dark) = (resolved(false), resolved(true));
    let changed = light.lines().zip(dark.lines());
    let changed: Vec<&str> = changed
        .filter(|(light, dark)| light != dark)
        .map(|(_, dark)| dark)
        .collect();
    format!(
        "\n{light}@media (prefers-color-scheme: dark) {{\n{}\n}}\n",
        changed.join("\n")
    )
}

/// Nine stops of the viridis colour map, which colour-blind people can order (Smith and van der Walt,
/// matplotlib, CC0), dark to light.
pub const VIRIDIS: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];

/// The colour of `share`, from 0 to 1.
pub(crate) fn viridis(share: f32) -> [u8; 3] {
    let place = share.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f32;
    let below = (place as usize).min(VIRIDIS.len() - 2);
    let part = place - below as f32;
    std::array::from_fn(|channel| {
        let [from, to] = [below, below + 1].map(|stop| f32::from(VIRIDIS[stop][channel]));
        (from + (to - from) * part).round() as u8
    })
}

/// Whether black text contrasts more with a colour than white text does.
///
/// Relative luminance and contrast are those of WCAG 2; at a luminance of 0.179 both contrasts are equal.
/// `page/script/src/draw/colour.ts` has the same rule.
pub(crate) fn takes_black_ink(colour: [u8; 3]) -> bool {
    let [r, g, b] = colour.map(|channel| {
        let part = f64::from(channel) / 255.0;
        if part <= 0.03928 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179
}
