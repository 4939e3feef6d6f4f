//! A row as single values, each with its place: CSV and reports have one column for each place.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use headlight_experiment::metrics::METRICS;
use serde_json::{Map, Value};

use crate::fields::{Field, Kind, TESTS, fields};
use crate::grid::is_grid_key;

/// The columns before those of [`fields`]: seed, point, and the grid's keys.
const BEFORE: usize = 3;

/// The place of a value in a row. Places have the order of a report.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The place of its field among all columns.
    rank: usize,
    /// The test set that it is of; empty if it is of none.
    pub(crate) test: String,
    /// Of a test set, metrics have the order of their table.
    metric: usize,
    /// Its field, or its metric of the test set.
    pub(crate) key: Cow<'static, str>,
    /// The place in a list of its field, and in the list there.
    pub(crate) element: [Option<usize>; 2],
}

impl Place {
    /// The place of a field, a key of the grid, or anything else in a row.
    pub(crate) fn of(key: &str) -> Self {
        static RANKS: LazyLock<BTreeMap<&'static str, usize>> = LazyLock::new(|| {
            let names = fields().iter().map(|field| &*field.name);
            let names = names.chain(["config_sha256"]).zip(BEFORE..);
            [("seed", 0), ("point", 1)]
                .into_iter()
                .chain(names)
                .collect()
        });
        let known = RANKS.get_key_value(key);
        let (key, rank) = match known {
            Some((key, rank)) => (Cow::Borrowed(*key), *rank),
            None if is_grid_key(key) => (Cow::Owned(key.to_owned()), 2),
            None => (Cow::Owned(key.to_owned()), BEFORE + fields().len() + 1),
        };
        Self {
            rank,
            test: String::new(),
            metric: 0,
            key,
            element: [None; 2],
        }
    }

    /// A metric of a test set.
    fn of_test(test: &str, metric: &str) -> Self {
        let known = METRICS.iter().find(|info| info.name == metric);
        Self {
            test: test.to_owned(),
            metric: known.map_or(METRICS.len(), |info| info.metric as usize),
            key: known.map_or_else(
                || Cow::Owned(metric.to_owned()),
                |info| Cow::Borrowed(info.name),
            ),
            ..Self::of(TESTS)
        }
    }

    /// Its field of a run's results.
    pub(crate) fn field(&self) -> Option<&'static Field> {
        fields().get(self.rank.checked_sub(BEFORE)?)
    }

    /// Whether it is an element of the list at another place.
    pub(crate) fn is_element_of(&self, list: &Self) -> bool {
        (self.rank, &self.test, &self.key) == (list.rank, &list.test, &list.key)
    }

    /// The order of columns in CSV.
    pub(crate) fn order(&self) -> (usize, String, [Option<usize>; 2]) {
        (self.rank, self.name(), self.element)
    }

    /// The field, such as `f1`, or the metric of a test set, such as `tests.longer.f1`.
    fn name(&self) -> String {
        if self.test.is_empty() {
            return self.key.to_string();
        }
        format!("{TESTS}.{}.{}", self.test, self.key)
    }

    /// The name of its column. Epochs are counted from 1; positions, layers and heads from 0.
    pub(crate) fn column(&self) -> String {
        let first = match self.field().map(Field::kind) {
            Some(Kind::List { first }) => first,
            _ => 0,
        };
        let mut name = self.name();
        for place in self.element.iter().flatten() {
            let _ = write!(name, "_{}", place + first);
        }
        name
    }
}

/// How many single values a value has, so that a row of too many is refused before they are listed.
pub(crate) fn count(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(values) => values.values().map(count).sum(),
        _ => 1,
    }
}

/// All values of a row: elements of lists one by one, and metrics of test sets.
pub(crate) fn flatten(row: &Map<String, Value>) -> Vec<(Place, &Value)> {
    let mut found = Vec::new();
    for (key, value) in row {
        match value {
            Value::Object(tests) if key == TESTS => {
                for (test, metrics) in tests {
                    let metrics = metrics.as_object().into_iter().flatten();
                    let places = metrics.map(|(name, value)| (Place::of_test(test, name), value));
                    found.extend(places);
                }
            }
            _ => add(&mut found, Place::of(key), 0, value),
        }
    }
    found
}

/// Adds the elements of a list, or of a list of lists.
fn add<'a>(found: &mut Vec<(Place, &'a Value)>, place: Place, depth: usize, value: &'a Value) {
    match value {
        Value::Array(list) if depth < place.element.len() => {
            for (index, value) in list.iter().enumerate() {
                let mut place = place.clone();
                place.element[depth] = Some(index);
                add(found, place, depth + 1, value);
            }
        }
        _ => found.push((place, value)),
    }
}
