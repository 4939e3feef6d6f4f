//! The measures of all runs: a column for each that rows have, and of lists by head one for each head.

use std::collections::BTreeMap;

use headlight_experiment::measures::MeasureName;
use serde_json::{Map, Value};

use super::row_values::{number, retain};

/// The most columns; a model has fewer heads.
const MOST: usize = 1 << 12;

/// A measure, or its value for a block and a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Series {
    pub(super) measure: MeasureName,
    pub(super) element: Option<[usize; 2]>,
}

impl Series {
    /// Its name, which is that of its column in CSV.
    pub(super) fn name(self) -> String {
        let name = self.measure.name();
        match self.element {
            None => name.to_owned(),
            Some([layer, head]) => format!("{name}_{layer}_{head}"),
        }
    }
}

/// The numbers of all runs; NaN if a run lacks one. `[run]`
#[derive(Clone, Debug, Default)]
pub(super) struct Measures(BTreeMap<Series, Vec<f64>>);

impl Measures {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Series, &[f64])> {
        self.0.iter().map(|(series, values)| (*series, &**values))
    }

    /// Adds a run after `runs` others.
    ///
    /// # Errors
    /// When a value is not a number or a list of lists of numbers, or there are too many.
    pub(super) fn push(&mut self, runs: usize, fields: &Map<String, Value>) -> Result<(), String> {
        for measure in MeasureName::ALL {
            let Some(value) = fields.get(measure.name()) else {
                continue;
            };
            let invalid = |what: &str| format!("its `{}` is not {what}", measure.name());
            if !measure.info().is_per_head {
                let value = number(Some(value)).ok_or_else(|| invalid("a number"))?;
                let element = None;
                self.add(Series { measure, element }, runs, value)?;
                continue;
            }
            let rows = match value {
                Value::Null => continue,
                value => value.as_array().ok_or_else(|| invalid("a list of lists"))?,
            };
            for (layer, row) in rows.iter().enumerate() {
                let row = row.as_array().ok_or_else(|| invalid("a list of lists"))?;
                for (head, value) in row.iter().enumerate() {
                    let value = number(Some(value)).ok_or_else(|| invalid("a list of numbers"))?;
                    let element = Some([layer, head]);
                    self.add(Series { measure, element }, runs, value)?;
                }
            }
        }
        for values in self.0.values_mut() {
            values.resize(runs + 1, f64::NAN);
        }
        Ok(())
    }

    fn add(&mut self, series: Series, runs: usize, value: f64) -> Result<(), String> {
        if self.0.len() == MOST && !self.0.contains_key(&series) {
            return Err(format!("its measures have more than {MOST} values"));
        }
        let values = self.0.entry(series).or_default();
        values.resize(runs, f64::NAN);
        values.push(value);
        Ok(())
    }

    /// Keeps some runs.
    pub(super) fn retain(&mut self, keep: &[bool]) {
        for values in self.0.values_mut() {
            retain(values, keep);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp)]
mod tests {
    use super::*;

    /// Of five runs, the first lacks the measure, and every second one is kept.
    #[test]
    fn runs_keep_their_values_when_others_are_dropped() {
        let mut measures = Measures::default();
        for run in 0..5 {
            let row = match run {
                0 => serde_json::json!({}),
                _ => serde_json::json!({ "circularity": run }),
            };
            measures.push(run, row.as_object().unwrap()).unwrap();
        }
        measures.retain(&[true, false, true, false, true]);
        let (series, values) = measures.iter().next().unwrap();
        assert_eq!((series.name().as_str(), measures.len()), ("circularity", 1));
        assert!(values[0].is_nan());
        assert_eq!(values[1..], [2.0, 4.0]);
    }

    #[test]
    fn more_heads_than_a_model_has_are_refused() {
        let row = serde_json::json!({ "deciding_attention": vec![vec![0.5; 64]; 65] });
        let mut measures = Measures::default();
        let refused = measures.push(0, row.as_object().unwrap()).unwrap_err();
        assert!(refused.contains("more than 4096"), "{refused}");
    }
}
