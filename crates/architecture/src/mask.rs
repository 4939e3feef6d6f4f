//! Which keys each query may look at.

use headlight_schema::{Kind, Value, choices};
use serde::{Deserialize, Serialize};

/// Which keys each query may look at, by position.
///
/// In TOML `"none"`, `"causal"`, or a matrix with one row per query and one column per key:
/// `[[1, 0], [1, 1]]` or `[[true, false], [true, true]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenMask", into = "WrittenMask")]
pub enum Mask {
    /// All keys.
    #[default]
    None,
    /// The keys at the query's own position and before it.
    Causal,
    /// The keys that are true in the query's row. `[query][key]`
    Matrix(Vec<Vec<bool>>),
}

impl Mask {
    /// Whether a query may look at a key. A matrix allows nothing outside it.
    pub fn allows(&self, query: usize, key: usize) -> bool {
        match self {
            Self::None => true,
            Self::Causal => key <= query,
            Self::Matrix(rows) => rows.get(query).and_then(|row| row.get(key)) == Some(&true),
        }
    }

    /// Checks that the mask is for these numbers of queries and keys, whatever they are.
    ///
    /// # Errors
    /// When the matrix has a different shape. Names the row or the number of rows.
    pub fn check(&self, queries: usize, keys: usize) -> Result<(), String> {
        let Self::Matrix(rows) = self else {
            return Ok(());
        };
        if rows.len() != queries {
            return Err(format!(
                "the mask has {} rows; there are {queries} queries",
                rows.len()
            ));
        }
        match rows.iter().enumerate().find(|(_, row)| row.len() != keys) {
            Some((index, row)) => Err(format!(
                "row {index} of the mask has {} columns; there are {keys} keys",
                row.len()
            )),
            None => Ok(()),
        }
    }

    /// The mask for these numbers of queries and keys, row-major, true where a query may look;
    /// `None` if every query may look everywhere. `[query, key]`
    ///
    /// If the numbers differ, a causal mask still lets query `i` look at keys 0 to `i`.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn matrix(&self, queries: usize, keys: usize) -> Result<Option<Vec<bool>>, String> {
        self.check(queries, keys)?;
        Ok(match self {
            Self::None => None,
            Self::Causal => {
                let row = |query| (0..keys).map(move |key| self.allows(query, key));
                Some((0..queries).flat_map(row).collect())
            }
            Self::Matrix(rows) => Some(rows.concat()),
        })
    }
}

choices! {
    enum Name {
        /// All keys.
        None = "none",
        /// The keys at the query's own position and before it.
        Causal = "causal",
    }
}

impl Value for Mask {
    fn kind() -> Kind {
        let row = Kind::List(Box::new(Kind::Either(vec![Kind::Whole, Kind::Switch])));
        Kind::Either(vec![Name::kind(), Kind::List(Box::new(row))])
    }
}

/// As it stands in a config.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected \"none\", \"causal\" or a matrix of 0 or 1, true or false"
)]
enum WrittenMask {
    Name(Name),
    Matrix(Vec<Vec<Switch>>),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Switch {
    Digit(u8),
    Word(bool),
}

impl TryFrom<WrittenMask> for Mask {
    type Error = String;

    fn try_from(written: WrittenMask) -> Result<Self, String> {
        let may = |switch| match switch {
            Switch::Word(may) => Ok(may),
            Switch::Digit(digit @ (0 | 1)) => Ok(digit == 1),
            Switch::Digit(digit) => Err(format!(
                "the matrix holds {digit}; expected 0 or 1, true or false"
            )),
        };
        match written {
            WrittenMask::Name(Name::None) => Ok(Self::None),
            WrittenMask::Name(Name::Causal) => Ok(Self::Causal),
            WrittenMask::Matrix(rows) => {
                let row = |row: Vec<Switch>| row.into_iter().map(may).collect();
                Ok(Self::Matrix(
                    rows.into_iter().map(row).collect::<Result<_, _>>()?,
                ))
            }
        }
    }
}

impl From<Mask> for WrittenMask {
    fn from(mask: Mask) -> Self {
        let digits = |row: Vec<bool>| {
            let digits = row.into_iter().map(u8::from);
            digits.map(Switch::Digit).collect()
        };
        match mask {
            Mask::None => Self::Name(Name::None),
            Mask::Causal => Self::Name(Name::Causal),
            Mask::Matrix(rows) => Self::Matrix(rows.into_iter().map(digits).collect()),
        }
    }
}
