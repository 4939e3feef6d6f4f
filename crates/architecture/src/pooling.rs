//! Which vector of the last layer the classifier reads.

use headlight_schema::{Kind, Value, choices};
use serde::{Deserialize, Serialize};

/// Which vector of the last layer the classifier reads.
///
/// In TOML `"cls"`, `"last"`, `"mean"`, or a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub enum Pooling {
    /// The vector of `[CLS]`.
    Cls,
    /// The vector of the last position.
    Last,
    /// The mean over all positions that are not padding.
    Mean,
    /// The vector of this position.
    Position(usize),
}

choices! {
    enum Name {
        /// The vector of `[CLS]`.
        Cls = "cls",
        /// The vector of the last position.
        Last = "last",
        /// The mean over all positions that are not padding.
        Mean = "mean",
    }
}

impl Value for Pooling {
    fn kind() -> Kind {
        Kind::Either(vec![Name::kind(), Kind::Whole])
    }

    fn written(&self) -> Option<String> {
        match (*self).into() {
            Written::Name(name) => name.written(),
            Written::Position(position) => position.written(),
        }
    }
}

/// As it stands in a config.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected \"cls\", \"last\", \"mean\" or a position"
)]
enum Written {
    Name(Name),
    Position(usize),
}

impl From<Written> for Pooling {
    fn from(written: Written) -> Self {
        match written {
            Written::Name(Name::Cls) => Self::Cls,
            Written::Name(Name::Last) => Self::Last,
            Written::Name(Name::Mean) => Self::Mean,
            Written::Position(position) => Self::Position(position),
        }
    }
}

impl From<Pooling> for Written {
    fn from(pooling: Pooling) -> Self {
        match pooling {
            Pooling::Cls => Self::Name(Name::Cls),
            Pooling::Last => Self::Name(Name::Last),
            Pooling::Mean => Self::Name(Name::Mean),
            Pooling::Position(position) => Self::Position(position),
        }
    }
}
