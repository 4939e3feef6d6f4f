//! How a model knows positions.

use headlight_schema::{Choice, Kind, Value};
use serde::{Deserialize, Serialize};

use crate::mathematics::{cos, exp, ln, sin};

/// The base of the wavelengths of sinusoidal and rotary positions (Vaswani et al. 2017, section 3.5; Su et al. 2021).
const BASE: f64 = 10_000.0;

/// How a model knows positions.
///
/// In TOML `true` and `false`, as older configs have them, or a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenPositions", into = "WrittenPositions")]
pub enum Positions {
    /// A learned vector for each position, added to the token's.
    #[default]
    Learned,
    /// The model does not know positions.
    None,
    /// A fixed vector of sines and cosines, added to the token's (Vaswani et al. 2017, section 3.5).
    Sinusoidal,
    /// Queries and keys are rotated by their position (Su et al. 2021).
    Rotary,
    /// A fixed vector whose first component is 1 at position 1, added to the token's (Chiang and Cholak 2022).
    First,
}

/// Each name with its sentence.
const NAMES: [(Positions, &str, &str); 5] = [
    (
        Positions::Learned,
        "learned",
        "A learned vector for each position is added to the token's vector.",
    ),
    (
        Positions::None,
        "none",
        "The model does not know positions.",
    ),
    (
        Positions::Sinusoidal,
        "sinusoidal",
        "A fixed vector of sines and cosines is added.",
    ),
    (
        Positions::Rotary,
        "rotary",
        "Queries and keys are rotated by their position, halves of a head paired as in GPT-NeoX.",
    ),
    (
        Positions::First,
        "first",
        "A fixed vector is added: its first component is 1 at position 1, and all else is 0.",
    ),
];

impl Positions {
    /// The name in configs.
    pub fn name(self) -> &'static str {
        let entry = NAMES.iter().find(|(positions, ..)| *positions == self);
        entry.map_or("", |(_, name, _)| name)
    }

    /// Whether a vector for each position is added to the token's.
    pub fn is_added(self) -> bool {
        matches!(self, Self::Learned | Self::Sinusoidal | Self::First)
    }

    /// The fixed vectors that are added to those of tokens. `[position, d_model]`
    ///
    /// Sinusoidal: component `2i` of position `p` is `sin(p / 10000^(2i / d_model))`, and component `2i + 1` its cosine.
    pub fn table(self, positions: usize, d_model: usize) -> Option<Vec<f32>> {
        let cell = |position: usize, i: usize| match self {
            Self::Sinusoidal => {
                let angle = angle(position, i / 2, d_model);
                (if i.is_multiple_of(2) {
                    sin(angle)
                } else {
                    cos(angle)
                }) as f32
            }
            _ => f32::from(u8::from((position, i) == (1, 0))),
        };
        let cells = (0..positions).flat_map(|position| (0..d_model).map(move |i| (position, i)));
        matches!(self, Self::Sinusoidal | Self::First)
            .then(|| cells.map(|(position, i)| cell(position, i)).collect())
    }

    /// The cosines and sines that queries and keys are rotated by; component `i` is paired with `i + d_head / 2`.
    /// `[position, d_head / 2]` each
    pub fn rotation(self, positions: usize, d_head: usize) -> Option<[Vec<f32>; 2]> {
        let all = |function: fn(f64) -> f64| {
            let pairs =
                (0..positions).flat_map(|position| (0..d_head / 2).map(move |i| (position, i)));
            pairs
                .map(|(position, i)| function(angle(position, i, d_head)) as f32)
                .collect()
        };
        (self == Self::Rotary).then(|| [all(cos), all(sin)])
    }
}

/// `position / 10000^(2 pair / width)`.
fn angle(position: usize, pair: usize, width: usize) -> f64 {
    position as f64 * exp(-ln(BASE) * (2 * pair) as f64 / width as f64)
}

impl Value for Positions {
    fn kind() -> Kind {
        let choices = NAMES.map(|(_, name, sentence)| Choice {
            name: name.to_owned(),
            sentence: sentence.to_owned(),
        });
        Kind::Either(vec![Kind::Switch, Kind::Choice(choices.into())])
    }
}

/// As it stands in a config.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected true, false, \"learned\", \"none\", \"sinusoidal\", \"rotary\" or \"first\""
)]
enum WrittenPositions {
    Switch(bool),
    Name(String),
}

impl TryFrom<WrittenPositions> for Positions {
    type Error = &'static str;

    fn try_from(written: WrittenPositions) -> Result<Self, &'static str> {
        let found = match written {
            // The words of older configs.
            WrittenPositions::Switch(true) => Some(Self::Learned),
            WrittenPositions::Switch(false) => Some(Self::None),
            WrittenPositions::Name(text) => {
                let entry = NAMES.iter().find(|(_, name, _)| *name == text);
                entry.map(|(positions, ..)| *positions)
            }
        };
        found.ok_or(
            "expected true, false, \"learned\", \"none\", \"sinusoidal\", \"rotary\" or \"first\"",
        )
    }
}

impl From<Positions> for WrittenPositions {
    fn from(positions: Positions) -> Self {
        match positions {
            // So that older configs keep their bytes and hashes.
            Positions::Learned => Self::Switch(true),
            Positions::None => Self::Switch(false),
            _ => Self::Name(positions.name().to_owned()),
        }
    }
}
