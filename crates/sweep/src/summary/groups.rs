//! Compares groups of runs: by a key of the grid, or by its points.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::columns::{Column, LEARNED_AT_STEP};
use super::statistics::Stats;
use super::summary::{Counts, PointSummary, Summary};

/// The runs with the same value of a key, or of the same point.
#[derive(Serialize)]
pub(super) struct Group<'a> {
    /// The value, or the point.
    #[serde(skip)]
    pub(super) name: String,
    /// The keys whose values are the same.
    settings: Map<String, Value>,
    #[serde(flatten)]
    pub(super) counts: Counts,
    #[serde(rename = "learned_at_step")]
    pub(super) steps: Option<Stats>,
    /// In the order of [`Summary::of_groups`].
    #[serde(flatten, serialize_with = "by_name")]
    pub(super) numbers: Vec<(&'a Column, Option<Stats>)>,
    pub(super) attention: Option<Stats>,
}

/// Writes numbers by their names; the step has a field of its own.
fn by_name<S: Serializer>(
    numbers: &[(&Column, Option<Stats>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let others = numbers
        .iter()
        .filter(|(column, _)| column.quantity != LEARNED_AT_STEP);
    let named = others.map(|(column, stats)| (&column.name, stats));
    named.collect::<BTreeMap<_, _>>().serialize(serializer)
}

impl Summary {
    /// The values that a key has, in order.
    pub(super) fn values_of(&self, key: &str) -> Vec<Value> {
        let mut values: Vec<&Value> = Vec::new();
        for value in self.points.iter().filter_map(|point| point.values.get(key)) {
            // Neighbouring points often have the same value: compare with the last one first.
            if values.last() != Some(&value) && !values.contains(&value) {
                values.push(value);
            }
        }
        let mut values: Vec<Value> = values.into_iter().cloned().collect();
        if values.iter().all(Value::is_number) {
            let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
            values.sort_by(|a, b| number(a).total_cmp(&number(b)));
        }
        values
    }

    /// The groups by each compared key of the grid, then by point, if several keys are compared.
    pub(super) fn all_groups(&self) -> Vec<Group<'_>> {
        let by = self.choices.by.iter();
        let mut groups: Vec<_> = by
            .flat_map(|key| self.by_key(key, &self.values_of(key)))
            .collect();
        if self.choices.by.len() > 1 {
            groups.extend(self.by_point());
        }
        groups
    }

    /// One group for each value of a key.
    pub(super) fn by_key(&self, key: &str, values: &[Value]) -> Vec<Group<'_>> {
        let setting = |value: &Value| Map::from_iter([(key.to_owned(), value.clone())]);
        let named = values.iter().map(|value| (display(value), setting(value)));
        self.groups(named.collect(), |_, point| {
            let value = point.values.get(key)?;
            values.iter().position(|other| other == value)
        })
    }

    /// One group for each point that has runs.
    pub(super) fn by_point(&self) -> Vec<Group<'_>> {
        let points = self.points.iter().enumerate();
        let points = points.filter(|(_, point)| point.counts.runs > 0);
        let named = points.map(|(index, PointSummary { values, .. })| {
            let name = settings(values);
            (index, (name, values.clone()))
        });
        let (indices, named): (Vec<usize>, Vec<_>) = named.unzip();
        self.groups(named, |index, _| indices.binary_search(&index).ok())
    }

    /// Groups with these names and settings; `group_of` gives the group of a point.
    fn groups(
        &self,
        named: Vec<(String, Map<String, Value>)>,
        group_of: impl Fn(usize, &PointSummary) -> Option<usize>,
    ) -> Vec<Group<'_>> {
        let mut points: Vec<Vec<&PointSummary>> = vec![Vec::new(); named.len()];
        for (index, point) in self.points.iter().enumerate() {
            if let Some(group) = group_of(index, point) {
                points[group].push(point);
            }
        }
        let runs = self.runs_of(named.len(), group_of);
        let columns = self.of_groups();
        let group = |(((name, settings), points), runs): (_, Vec<usize>)| {
            let stats = |values: &[f64]| self.stats(values, runs.iter().copied());
            let numbers = columns.iter();
            Group {
                name,
                settings,
                counts: Counts::of(points),
                steps: stats(self.columns.number(LEARNED_AT_STEP)),
                numbers: numbers
                    .map(|column| (*column, stats(&column.values)))
                    .collect(),
                attention: stats(&self.attention.paid[0]),
            }
        };
        named.into_iter().zip(points).zip(runs).map(group).collect()
    }

    /// The runs that did not fail, for each of `count` groups; `group_of` gives the group of a point.
    pub(super) fn runs_of(
        &self,
        count: usize,
        group_of: impl Fn(usize, &PointSummary) -> Option<usize>,
    ) -> Vec<Vec<usize>> {
        let points = self.points.iter().enumerate();
        let groups: Vec<_> = points
            .map(|(index, point)| group_of(index, point))
            .collect();
        let mut runs = vec![Vec::new(); count];
        for (run, point) in self.columns.points.iter().enumerate() {
            if let Some(group) = groups[*point as usize] {
                runs[group].push(run);
            }
        }
        runs
    }
}

/// The values of keys in words. A key goes by its last part, unless another key has the same.
pub(super) fn settings(values: &Map<String, Value>) -> String {
    fn last(key: &str) -> &str {
        key.rsplit('.').next().unwrap_or(key)
    }
    let pairs = values.iter().map(|(key, value)| {
        let short = last(key);
        let same = values.keys().filter(|other| last(other) == short);
        let key = if same.count() > 1 { key } else { short };
        format!("{key}={}", display(value))
    });
    pairs.collect::<Vec<_>>().join(" ")
}

pub(super) fn display(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key whose last part another key has stays whole.
    #[test]
    fn keys_of_settings_are_told_apart() {
        let named = |keys: [&str; 2]| {
            let values = keys.map(|key| (key.to_owned(), Value::from(2)));
            settings(&Map::from_iter(values))
        };
        assert_eq!(
            named(["model.d_model", "dump.samples"]),
            "samples=2 d_model=2"
        );
        assert_eq!(
            named(["data.samples", "dump.samples"]),
            "data.samples=2 dump.samples=2"
        );
    }
}
