//! Cross-validation: the samples of a file in equal parts, each of which is held out once.

use std::fmt;

use headlight_schema::{Kind, Value};
use serde::{Deserialize, Serialize};

/// The most parts.
const MAX_FOLDS: usize = 1000;

/// The part that is held out, `index` of `count`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fold {
    index: usize,
    count: usize,
}

impl Fold {
    /// The number of parts.
    pub fn count(self) -> usize {
        self.count
    }

    /// Whether the sample of this rank in the order is held out.
    pub(crate) fn holds(self, rank: usize) -> bool {
        rank % self.count == self.index - 1
    }
}

impl TryFrom<String> for Fold {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a fold; write K/N with N from 2 to {MAX_FOLDS} and K from 1 to N, such as 1/5"
            )
        };
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let (index, count) = (number(index)?, number(count)?);
        let is_valid = (2..=MAX_FOLDS).contains(&count) && (1..=count).contains(&index);
        is_valid.then_some(Self { index, count }).ok_or_else(wrong)
    }
}

impl From<Fold> for String {
    fn from(fold: Fold) -> Self {
        fold.to_string()
    }
}

impl fmt::Display for Fold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl Value for Fold {
    fn kind() -> Kind {
        Kind::Text
    }
}
