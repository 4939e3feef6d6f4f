//! A row as single values, each with its column in CSV and reports.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Bound::{Excluded, Unbounded};

use headlight_experiment::metrics::METRICS;
use serde_json::{Map, Value};

use crate::fields::{Field, Quantity, TESTS, fields};
use crate::grid::is_grid_key;

/// The ranks before those of [`fields`]: of seed, point, and the grid's keys.
const RANKS_BEFORE_FIELDS: usize = 3;

/// What tells a column from the others. Keys have the order of a report.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ColumnKey {
    /// The position of its field among all that a row may have.
    rank: usize,
    /// Its field, or key of the grid.
    pub(crate) key: String,
    /// For a metric on a test set: the set, the metric's position in the table of metrics, and the metric's name.
    pub(crate) test: Option<(String, usize, String)>,
    /// The position in the field's list, and in the list nested there.
    pub(crate) element: [Option<usize>; 2],
}

/// The path to a single value of a row: its field, the test set and metric if it has them, and its position in lists.
type ValuePath<'a> = (&'a str, Option<(&'a str, &'a str)>, [Option<usize>; 2]);

impl ColumnKey {
    fn of((key, test, element): ValuePath<'_>) -> Self {
        let known = || fields().iter().position(|field| field.name == key);
        let rank = match key {
            "seed" => 0,
            "point" => 1,
            "config_sha256" => RANKS_BEFORE_FIELDS + fields().len(),
            _ if is_grid_key(key) => 2,
            _ => RANKS_BEFORE_FIELDS + known().unwrap_or(fields().len() + 1),
        };
        let test = test.map(|(test, metric)| {
            let rank = METRICS.iter().position(|info| info.name == metric);
            let rank = rank.unwrap_or(METRICS.len());
            (test.to_owned(), rank, metric.to_owned())
        });
        Self {
            rank,
            key: key.to_owned(),
            test,
            element,
        }
    }

    fn is_at(&self, (key, test, element): ValuePath<'_>) -> bool {
        let own_test = self.test.as_ref();
        let own_test = own_test.map(|(test, _, metric)| (&**test, &**metric));
        self.element == element && self.key == key && own_test == test
    }

    /// Its field of a run's results.
    pub(crate) fn field(&self) -> Option<&'static Field> {
        fields().get(self.rank.checked_sub(RANKS_BEFORE_FIELDS)?)
    }

    /// The field, such as `f1`, or the metric of a test set, such as `tests.longer.f1`.
    fn name(&self) -> String {
        match &self.test {
            None => self.key.clone(),
            Some((test, _, metric)) => format!("{}.{test}.{metric}", self.key),
        }
    }

    /// The name of its column. Epochs are counted from 1; positions, layers and heads from 0.
    pub(crate) fn column(&self) -> String {
        let quantity = self.field().map(|field| field.quantity);
        let first = usize::from(quantity == Some(Quantity::EpochLoss));
        let mut name = self.name();
        for index in self.element.iter().flatten() {
            let _ = write!(name, "_{}", index + first);
        }
        name
    }
}

/// Numbers columns in the order in which rows first have them.
#[derive(Clone, Debug)]
pub(crate) struct ColumnIndex {
    limit: usize,
    numbers: BTreeMap<ColumnKey, usize>,
    /// By their numbers.
    pub(crate) all: Vec<ColumnKey>,
    /// By their numbers: whether a row has more than null there.
    is_known: Vec<bool>,
    /// The numbers of the columns of the last row: most rows have the columns of the one before them.
    last: Vec<usize>,
}

impl ColumnIndex {
    /// An empty numbering of at most `limit` columns.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            numbers: BTreeMap::new(),
            all: Vec::new(),
            is_known: Vec::new(),
            last: Vec::new(),
        }
    }

    /// All values of a row, each with the number of its column: elements of lists one by one, and metrics of test sets.
    pub(crate) fn values<'a>(
        &mut self,
        row: &'a Map<String, Value>,
    ) -> Result<Vec<(usize, &'a Value)>, String> {
        let found = flatten(row, self.limit);
        let mut values = Vec::with_capacity(found.len());
        for (index, &(path, value)) in found.iter().enumerate() {
            let number = match self.last.get(index) {
                Some(&number) if self.all[number].is_at(path) => number,
                _ => self.number(ColumnKey::of(path)),
            };
            self.is_known[number] |= !value.is_null();
            values.push((number, value));
        }
        self.last = values.iter().map(|(number, _)| *number).collect();
        if found.len().max(self.all.len()) > self.limit {
            let limit = self.limit;
            return Err(format!(
                "the rows up to here have more than {limit} columns"
            ));
        }
        Ok(values)
    }

    fn number(&mut self, key: ColumnKey) -> usize {
        let next = self.all.len();
        let number = *self.numbers.entry(key.clone()).or_insert(next);
        if number == next {
            self.all.push(key);
            self.is_known.push(false);
        }
        number
    }

    /// The numbers of all columns, in the order of a report.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = usize> {
        self.numbers.values().copied()
    }

    /// The names of the columns of a table, each with its number.
    pub(crate) fn columns(&self) -> Vec<(String, usize)> {
        // If one run has a list where another has null, the null gets no column of its own.
        let is_list = |key: &ColumnKey, number: usize| {
            let next = self.numbers.range((Excluded(key), Unbounded)).next();
            let rank_and_name = |key: &ColumnKey| (key.rank, key.name());
            let is_null = key.element == [None; 2] && !self.is_known[number];
            is_null && next.is_some_and(|(next, _)| rank_and_name(next) == rank_and_name(key))
        };
        let columns = self.numbers.iter();
        let columns = columns.filter(|(key, number)| !is_list(key, **number));
        let mut columns: Vec<_> = columns.collect();
        columns.sort_by_cached_key(|(key, _)| (key.rank, key.name(), key.element));
        let named = columns.into_iter();
        named.map(|(key, number)| (key.column(), *number)).collect()
    }
}

/// The values of a row: all metrics of test sets, and others until there are more than `limit`.
fn flatten(row: &Map<String, Value>, limit: usize) -> Vec<(ValuePath<'_>, &Value)> {
    let mut found: Vec<(ValuePath<'_>, &Value)> = Vec::new();
    for (key, value) in row {
        let tests = value.as_object().filter(|_| key == TESTS);
        for (test, metrics) in tests.into_iter().flatten() {
            for (metric, value) in metrics.as_object().into_iter().flatten() {
                found.push(((key, Some((test, metric)), [None; 2]), value));
            }
        }
        if tests.is_none() {
            add(&mut found, limit, (key, None, [None; 2]), 0, value);
        }
    }
    found
}

/// Adds a value, or the elements of a list or of a list of lists.
fn add<'a>(
    found: &mut Vec<(ValuePath<'a>, &'a Value)>,
    limit: usize,
    (key, test, mut element): ValuePath<'a>,
    depth: usize,
    value: &'a Value,
) {
    match value {
        Value::Array(list) if depth < element.len() => {
            for (index, value) in list.iter().enumerate() {
                element[depth] = Some(index);
                add(found, limit, (key, test, element), depth + 1, value);
            }
        }
        _ if found.len() <= limit => found.push(((key, test, element), value)),
        _ => {}
    }
}
