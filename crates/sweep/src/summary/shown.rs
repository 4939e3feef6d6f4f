//! The numbers of runs that are compared between settings: those that the user names, or else F1, that of test sets among them,
//! and the measures of the rows.

use std::path::Path;

use headlight_experiment::metrics::Metric;
use headlight_trainer::Failure;
use headlight_trainer::storage::standard::shown;

use super::asked::Series;
use super::columns::numbers;
use super::summary::Summary;
use crate::fields::Quantity;

/// A number of each run.
pub(super) struct Shown<'a> {
    /// Its column in CSV.
    pub(super) name: String,
    /// Its name in tables and plots.
    pub(super) label: String,
    /// Digits after the decimal point in tables.
    pub(super) decimals: usize,
    /// The field that it is, unless a config asks for it.
    pub(super) quantity: Option<Quantity>,
    /// Whether the table of all runs has it.
    pub(super) is_listed: bool,
    /// NaN if a run lacks it. `[run]`
    pub(super) values: &'a [f64],
}

impl Summary {
    /// Compares these fields of rows between settings, by the names of their columns in CSV, in place of these.
    ///
    /// # Errors
    /// When no row has a number of such a name. Names those that there are.
    pub fn showing(mut self, path: &Path, metrics: &[String]) -> Result<Self, Failure> {
        let all = self.series();
        let unknown = metrics
            .iter()
            .find(|name| all.iter().all(|series| series.name != **name));
        if let Some(unknown) = unknown {
            let names: Vec<&str> = all.iter().map(|series| &*series.name).collect();
            return Err(Failure::Input(format!(
                "--metric {unknown}: the rows of {} have no such number; they have {}",
                shown(path),
                names.join(", ")
            )));
        }
        metrics.clone_into(&mut self.metrics);
        Ok(self)
    }

    /// All numbers that a row has.
    pub(super) fn series(&self) -> Vec<Shown<'_>> {
        let fields = numbers().map(|field| Shown {
            name: field.name.clone(),
            label: field.label.clone(),
            decimals: field.decimals,
            quantity: Some(field.quantity),
            is_listed: true,
            values: self.columns.number(field.quantity),
        });
        let asked = self.columns.asked.iter().map(|(series, values)| Shown {
            name: series.name(),
            label: series.label(),
            decimals: series.decimals(),
            quantity: None,
            is_listed: series.is_listed(),
            values,
        });
        let known = |series: &Shown<'_>| series.values.iter().any(|value| value.is_finite());
        fields.chain(asked).filter(known).collect()
    }

    /// The numbers that are compared between settings.
    pub(super) fn shown(&self) -> Vec<Shown<'_>> {
        let mut all = self.series();
        if self.metrics.is_empty() {
            let f1 = |held_out| {
                let metric = Metric::F1;
                Some(Quantity::Metric { metric, held_out })
            };
            let is_held_out = all.iter().any(|series| series.quantity == f1(true));
            let asked = self.columns.asked.iter().map(|(series, _)| series);
            let compared = asked.filter(|series| series.is_compared());
            let compared: Vec<String> = compared.map(Series::name).collect();
            all.retain(|series| match series.quantity {
                None => compared.contains(&series.name),
                of_field => of_field == f1(is_held_out),
            });
            return all;
        }
        let mut shown = Vec::new();
        for name in &self.metrics {
            if let Some(place) = all.iter().position(|series| series.name == *name) {
                shown.push(all.remove(place));
            }
        }
        shown
    }
}
