//! Colours for a value, that colour-blind people can order.

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourMode {
    /// 24 bits a colour.
    TrueColour,
    /// The 256-colour palette.
    Palette,
    /// No colour.
    Plain,
}

/// Nine stops of the viridis colour map (Smith and van der Walt, matplotlib, CC0), dark to light.
const VIRIDIS: [[f32; 3]; 9] = [
    [68.0, 1.0, 84.0],
    [71.0, 44.0, 122.0],
    [59.0, 81.0, 139.0],
    [44.0, 113.0, 142.0],
    [33.0, 144.0, 141.0],
    [39.0, 173.0, 129.0],
    [92.0, 200.0, 99.0],
    [170.0, 220.0, 50.0],
    [253.0, 231.0, 37.0],
];

/// The colour of `share`, from 0 to 1.
pub(crate) fn viridis(share: f32) -> [u8; 3] {
    let place = share.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f32;
    let below = (place as usize).min(VIRIDIS.len() - 2);
    let part = place - below as f32;
    std::array::from_fn(|channel| {
        let (from, to) = (VIRIDIS[below][channel], VIRIDIS[below + 1][channel]);
        (from + (to - from) * part).round() as u8
    })
}

/// Whether black can be read better than white on the colour of `share`.
pub(crate) fn is_light(share: f32) -> bool {
    let [r, g, b] = viridis(share);
    // Relative luminance, ITU-R BT.709.
    let luminance = 0.2126 * f32::from(r) + 0.7152 * f32::from(g) + 0.0722 * f32::from(b);
    luminance > 110.0
}

/// Starts text on a cell of this colour, black or white, whichever can be read.
pub(crate) fn start(share: f32, mode: ColourMode) -> String {
    let [r, g, b] = viridis(share);
    let light = is_light(share);
    match mode {
        ColourMode::Plain => String::new(),
        ColourMode::TrueColour => {
            let ink = if light {
                "38;2;0;0;0"
            } else {
                "38;2;255;255;255"
            };
            format!("\x1b[{ink};48;2;{r};{g};{b}m")
        }
        ColourMode::Palette => {
            let ink = if light { 16 } else { 231 };
            format!("\x1b[38;5;{ink};48;5;{}m", palette([r, g, b]))
        }
    }
}

/// Ends what [`start`] started.
pub(crate) fn end(mode: ColourMode) -> &'static str {
    match mode {
        ColourMode::Plain => "",
        ColourMode::TrueColour | ColourMode::Palette => "\x1b[0m",
    }
}

/// The nearest colour of the 6×6×6 cube of the 256-colour palette.
fn palette([r, g, b]: [u8; 3]) -> u8 {
    let step = |channel: u8| {
        const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
        (0..6_u8)
            .min_by_key(|&level| LEVELS[usize::from(level)].abs_diff(channel))
            .unwrap_or(0)
    };
    16 + 36 * step(r) + 6 * step(g) + step(b)
}
