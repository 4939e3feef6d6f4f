//! What a terminal can show.

use crate::theme::{takes_black_ink, viridis};

/// The terminal that text is drawn for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The colours that it can show.
    pub colour: ColourMode,
    /// Its width in columns.
    pub width: usize,
}

/// The colours that a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourMode {
    /// 24 bits per colour.
    TrueColour,
    /// The 256-colour palette.
    Palette,
    /// No colour.
    Plain,
}

impl ColourMode {
    /// `text` on the colour of `share`, in black or white.
    pub(crate) fn paint(self, share: f32, text: &str) -> String {
        let colour @ [r, g, b] = viridis(share);
        let black = takes_black_ink(colour);
        match self {
            Self::Plain => text.to_owned(),
            Self::TrueColour => {
                let ink = if black { "0;0;0" } else { "255;255;255" };
                format!("\x1b[38;2;{ink};48;2;{r};{g};{b}m{text}\x1b[0m")
            }
            Self::Palette => {
                let ink = if black { 16 } else { 231 };
                format!("\x1b[38;5;{ink};48;5;{}m{text}\x1b[0m", palette(colour))
            }
        }
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
