//! The factor of the products of queries and keys.

use headlight_schema::{Kind, Value};
use serde::{Deserialize, Serialize};

/// The factor of the products of queries and keys.
///
/// In TOML `true`, `false`, or a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "WrittenScale", into = "WrittenScale")]
pub enum Scale {
    /// `1 / sqrt(d_head)`, which gives scores the variance of queries and keys
    /// (Vaswani et al. 2017, section 3.2.1).
    #[default]
    Root,
    /// 1: the products are the scores.
    Off,
    /// This number.
    Factor(f64),
}

impl Scale {
    /// The factor for queries and keys of this width.
    pub fn factor(self, d_head: usize) -> f64 {
        match self {
            Self::Root => 1.0 / (d_head as f64).sqrt(),
            Self::Off => 1.0,
            Self::Factor(factor) => factor,
        }
    }
}

impl Value for Scale {
    fn kind() -> Kind {
        Kind::Either(vec![Kind::Switch, Kind::Number])
    }
}

/// As it stands in a config.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected true, false or a number")]
enum WrittenScale {
    Switch(bool),
    Number(f64),
}

impl From<WrittenScale> for Scale {
    fn from(written: WrittenScale) -> Self {
        match written {
            WrittenScale::Switch(true) => Self::Root,
            WrittenScale::Switch(false) => Self::Off,
            WrittenScale::Number(factor) => Self::Factor(factor),
        }
    }
}

impl From<Scale> for WrittenScale {
    fn from(scale: Scale) -> Self {
        match scale {
            Scale::Factor(factor) => Self::Number(factor),
            _ => Self::Switch(scale == Scale::Root),
        }
    }
}
