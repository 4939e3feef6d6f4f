//! The metric by which a training keeps its best model.

use headlight_schema::{Choice, Kind, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::table::{BetterValues, HELD_OUT, METRICS, Metric};

/// A metric on training or held-out samples, by which models can be compared. Its name is a key of `metrics.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Criterion {
    pub(super) metric: Metric,
    pub(super) held_out: bool,
}

impl Criterion {
    /// All criteria.
    fn all() -> impl Iterator<Item = Self> {
        [false, true].into_iter().flat_map(|held_out| {
            let named = METRICS.iter().filter(|info| info.better.is_some());
            named.map(move |info| Self {
                metric: info.metric,
                held_out,
            })
        })
    }

    /// Whether it is of the held-out samples.
    pub fn is_held_out(self) -> bool {
        self.held_out
    }

    /// Its name in configs.
    pub fn name(self) -> String {
        let prefix = if self.held_out { HELD_OUT } else { "" };
        format!("{prefix}{}", METRICS[self.metric as usize].name)
    }

    /// Whether `value` is better than `than`.
    pub fn is_better(self, value: f64, than: f64) -> bool {
        match METRICS[self.metric as usize].better {
            Some(BetterValues::Less) => value < than,
            _ => value > than,
        }
    }
}

impl Value for Criterion {
    fn kind() -> Kind {
        let choice = |criterion: Self| Choice {
            name: criterion.name(),
            sentence: String::new(),
        };
        Kind::Choice(Self::all().map(choice).collect())
    }

    fn written(&self) -> Option<String> {
        Some(format!("{:?}", self.name()))
    }
}

impl Serialize for Criterion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

impl<'de> Deserialize<'de> for Criterion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let found = Self::all().find(|criterion| criterion.name() == text);
        found.ok_or_else(|| {
            let names: Vec<String> = Self::all().map(Self::name).collect();
            let names = names.join(", ");
            de::Error::custom(format!("unknown metric `{text}`; it can be {names}"))
        })
    }
}
