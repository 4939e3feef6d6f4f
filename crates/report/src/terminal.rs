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

/// A text for a terminal. Names that it quotes could steer the terminal, so that control characters are replaced; line
/// breaks, tabs and the colours of pictures stay.
pub fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let (kept, after) = rest.split_at(painted(rest).unwrap_or(character.len_utf8()));
        let is_unsafe = kept.len() == character.len_utf8()
            && character.is_control()
            && !matches!(character, '\n' | '\t');
        visible.push_str(if is_unsafe { "\u{FFFD}" } else { kept });
        rest = after;
    }
    visible
}

/// The length of the colour of [`ColourMode::paint`] that a text begins with.
fn painted(text: &str) -> Option<usize> {
    let (colour, _) = text.strip_prefix("\x1b[")?.split_once('m')?;
    let is_colour = colour == "0" || colour.starts_with("38;") && colour.contains(";48;");
    let is_digits = colour
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b';');
    (is_colour && is_digits).then_some("\x1b[m".len() + colour.len())
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
