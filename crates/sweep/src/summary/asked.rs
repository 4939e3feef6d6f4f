//! What configs ask for of all runs: a column for each metric of a test set and for each measure, and of measures by head one
//! for each head.

use std::collections::BTreeMap;

use headlight_experiment::measures::MeasureName;
use headlight_experiment::metrics::Metric;
use serde_json::{Map, Value};

use super::row_values::{number, retain};
use crate::fields::TESTS;

/// The most columns; a model has fewer heads.
const MOST: usize = 1 << 12;

/// The metrics of test sets that reports can show, each with its name in tables and its digits after the decimal point.
const OF_TESTS: [(&str, &str, usize); 6] = {
    const fn of(metric: Metric) -> (&'static str, &'static str, usize) {
        let info = metric.info();
        (info.name, info.label, info.decimals)
    }
    let whole = ("sample_accuracy", "accuracy of whole samples", 5);
    [
        of(Metric::Loss),
        of(Metric::Accuracy),
        of(Metric::Precision),
        of(Metric::Recall),
        of(Metric::F1),
        whole,
    ]
};

/// A number of each run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Series {
    /// A metric of a test set, by its place among those that reports show.
    Test { name: String, metric: usize },
    /// A measure, or its value for a block and a head.
    Measure {
        measure: MeasureName,
        element: Option<[usize; 2]>,
    },
}

impl Series {
    /// Its name, which is that of its column in CSV.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Test { name, metric } => format!("{TESTS}.{name}.{}", OF_TESTS[*metric].0),
            Self::Measure { measure, element } => match element {
                None => measure.name().to_owned(),
                Some([layer, head]) => format!("{}_{layer}_{head}", measure.name()),
            },
        }
    }

    /// Its name in tables.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Test { name, metric } => format!("{name}: {}", OF_TESTS[*metric].1),
            Self::Measure { .. } => self.name(),
        }
    }

    /// Digits after the decimal point in tables.
    pub(super) fn decimals(&self) -> usize {
        match self {
            Self::Test { metric, .. } => OF_TESTS[*metric].2,
            Self::Measure { measure, .. } => measure.info().decimals,
        }
    }

    /// Whether the table of all runs has it: of a test set, loss, accuracy and F1.
    pub(super) fn is_listed(&self) -> bool {
        let left_out = [Metric::Precision, Metric::Recall].map(|metric| metric.info().name);
        match self {
            Self::Test { metric, .. } => !left_out.contains(&OF_TESTS[*metric].0),
            Self::Measure { .. } => true,
        }
    }

    /// Whether settings are compared by it unasked: values for each head would be too many, and uniform attention says nothing of
    /// a model.
    pub(super) fn is_compared(&self) -> bool {
        match self {
            Self::Test { metric, .. } => OF_TESTS[*metric].0 == Metric::F1.info().name,
            Self::Measure { measure, element } => {
                element.is_none() && *measure != MeasureName::DecidingUniform
            }
        }
    }
}

/// The numbers of all runs; NaN if a run lacks one. `[run]`
#[derive(Clone, Debug, Default)]
pub(super) struct Asked(BTreeMap<Series, Vec<f64>>);

impl Asked {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Series, &[f64])> {
        self.0.iter().map(|(series, values)| (series, &**values))
    }

    /// Adds a run after `runs` others.
    ///
    /// # Errors
    /// When a value is not a number or a list of lists of numbers, or there are too many.
    pub(super) fn push(&mut self, runs: usize, fields: &Map<String, Value>) -> Result<(), String> {
        let tests = fields.get(TESTS).and_then(Value::as_object);
        for (name, metrics) in tests.into_iter().flatten() {
            for (metric, (key, ..)) in OF_TESTS.iter().enumerate() {
                let Some(value) = metrics.get(key) else {
                    continue;
                };
                let value = number(Some(value));
                let value =
                    value.ok_or_else(|| format!("its `{TESTS}.{name}.{key}` is not a number"))?;
                let name = name.clone();
                self.add(Series::Test { name, metric }, runs, value)?;
            }
        }
        for measure in MeasureName::ALL {
            let Some(value) = fields.get(measure.name()) else {
                continue;
            };
            let invalid = |what: &str| format!("its `{}` is not {what}", measure.name());
            if !measure.info().is_per_head {
                let value = number(Some(value)).ok_or_else(|| invalid("a number"))?;
                let element = None;
                self.add(Series::Measure { measure, element }, runs, value)?;
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
                    self.add(Series::Measure { measure, element }, runs, value)?;
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
            return Err(format!(
                "its measures and test sets have more than {MOST} values"
            ));
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
        let mut measures = Asked::default();
        for run in 0..5 {
            let row = match run {
                0 => serde_json::json!({}),
                _ => serde_json::json!({ "gap": run }),
            };
            measures.push(run, row.as_object().unwrap()).unwrap();
        }
        measures.retain(&[true, false, true, false, true]);
        let (series, values) = measures.iter().next().unwrap();
        assert_eq!((series.name().as_str(), measures.len()), ("gap", 1));
        assert!(values[0].is_nan());
        assert_eq!(values[1..], [2.0, 4.0]);
    }

    #[test]
    fn more_heads_than_a_model_has_are_refused() {
        let row = serde_json::json!({ "deciding_attention": vec![vec![0.5; 64]; 65] });
        let mut measures = Asked::default();
        let refused = measures.push(0, row.as_object().unwrap()).unwrap_err();
        assert!(refused.contains("more than 4096"), "{refused}");
    }
}
