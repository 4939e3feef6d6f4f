//! Compares groups of runs: by a key of the grid, or by its points.

use serde_json::Value;

use super::columns::{LEARNED, compared};
use super::statistics::Sample;
use super::summary::{Point, Summary};

/// The runs with the same value of a key, or of the same point.
pub(super) struct Group {
    /// The value, or the point.
    pub(super) name: String,
    pub(super) runs: usize,
    pub(super) failed: usize,
    pub(super) learned: usize,
    pub(super) steps: Option<Sample>,
    /// In the order of [`compared`].
    pub(super) metrics: Vec<Option<Sample>>,
    pub(super) attention: Option<Sample>,
    /// In the order of [`Summary::compared`].
    pub(super) compared: Vec<Option<Sample>>,
    /// The runs that look towards the target, and those that look away.
    pub(super) looks: Looks,
}

/// Counts of runs by where they look.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Looks {
    pub(super) towards: usize,
    pub(super) away: usize,
}

impl Looks {
    fn add(&mut self, towards: Option<bool>) {
        self.towards += usize::from(towards == Some(true));
        self.away += usize::from(towards == Some(false));
    }
}

impl Summary {
    /// Where all runs look.
    pub(super) fn looks(&self) -> Looks {
        let mut looks = Looks::default();
        (0..self.columns.points.len()).for_each(|run| looks.add(self.looks_towards(run)));
        looks
    }

    /// The values that a key has, in order.
    pub(super) fn values_of(&self, key: &str) -> Vec<Value> {
        let mut values: Vec<&Value> = Vec::new();
        for value in self.points.iter().filter_map(|point| point.value(key)) {
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

    /// One group for each value of a key.
    pub(super) fn by_key(&self, key: &str, values: &[Value]) -> Vec<Group> {
        let place = |point: &Point| {
            let value = point.value(key)?;
            values.iter().position(|other| other == value)
        };
        let places: Vec<Option<usize>> = self.points.iter().map(place).collect();
        let names: Vec<String> = values.iter().map(display).collect();
        self.groups(&names, &places)
    }

    /// One group for each point that has runs.
    pub(super) fn by_point(&self) -> Vec<Group> {
        let mut names = Vec::new();
        let places: Vec<Option<usize>> = self
            .points
            .iter()
            .map(|point| {
                (point.runs > 0).then(|| {
                    let values = point.values.iter();
                    let values = values.map(|(key, value)| (&**key, value));
                    names.push(settings(&values.collect::<Vec<_>>()));
                    names.len() - 1
                })
            })
            .collect();
        self.groups(&names, &places)
    }

    /// Groups with these names; `places` gives the group of each point.
    fn groups(&self, names: &[String], places: &[Option<usize>]) -> Vec<Group> {
        let sums = |of: fn(&Point) -> usize| {
            let mut sums = vec![0; names.len()];
            for (point, place) in self.points.iter().zip(places) {
                if let Some(place) = place {
                    sums[*place] += of(point);
                }
            }
            sums
        };
        let samples = |column: &mut dyn Iterator<Item = f64>| {
            let mut values: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
            for (point, value) in self.columns.points.iter().zip(column) {
                if let Some(place) = places[*point as usize] {
                    values[place].push(value);
                }
            }
            let samples = values
                .into_iter()
                .map(|values| Sample::of(values.into_iter()));
            samples.collect::<Vec<_>>().into_iter()
        };
        let number = |quantity| samples(&mut self.columns.number(quantity).iter().copied());
        let runs = sums(|point| point.runs);
        let failed = sums(|point| point.failed);
        let learned = sums(|point| point.learned);
        let mut steps = number(LEARNED);
        let mut metrics: Vec<_> = compared().map(|field| number(field.quantity)).collect();
        let mut looks = vec![Looks::default(); names.len()];
        for (run, point) in self.columns.points.iter().enumerate() {
            if let Some(place) = places[*point as usize] {
                looks[place].add(self.looks_towards(run));
            }
        }
        let mut numbers: Vec<_> = self
            .compared()
            .iter()
            .map(|column| samples(&mut column.values.iter().copied()))
            .collect();
        let mut attention = samples(&mut self.attention.paid[0].iter().copied());
        names
            .iter()
            .enumerate()
            .map(|(place, name)| Group {
                name: name.clone(),
                runs: runs[place],
                failed: failed[place],
                learned: learned[place],
                steps: steps.next().flatten(),
                metrics: metrics.iter_mut().map(|all| all.next().flatten()).collect(),
                attention: attention.next().flatten(),
                compared: numbers.iter_mut().map(|all| all.next().flatten()).collect(),
                looks: looks[place],
            })
            .collect()
    }
}

impl Point {
    pub(super) fn value(&self, key: &str) -> Option<&Value> {
        let value = self.values.iter().find(|(name, _)| name == key);
        value.map(|(_, value)| value)
    }
}

/// The values of keys in words. A key goes by its last part, unless another key has the same.
pub(super) fn settings(values: &[(&str, &Value)]) -> String {
    fn last(key: &str) -> &str {
        key.rsplit('.').next().unwrap_or(key)
    }
    let pairs = values.iter().map(|&(key, value)| {
        let short = last(key);
        let same = values.iter().filter(|(other, _)| last(other) == short);
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
        let value = Value::from(2);
        let named =
            |keys: &[&str]| settings(&keys.iter().map(|&key| (key, &value)).collect::<Vec<_>>());
        assert_eq!(
            named(&["model.d_model", "dump.samples"]),
            "d_model=2 samples=2"
        );
        assert_eq!(
            named(&["data.samples", "dump.samples"]),
            "data.samples=2 dump.samples=2"
        );
    }
}
