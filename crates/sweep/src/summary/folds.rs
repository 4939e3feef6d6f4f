//! Metrics over the folds of a cross-validation.

use std::collections::BTreeMap;

use headlight_experiment::metrics::Metric;
use headlight_report::Table;
use serde::Serialize;
use serde_json::{Map, Value};

use super::cells::{MOST_ROWS, with_margin};
use super::groups::settings;
use super::statistics::Stats;
use super::summary::Summary;
use crate::fields::{Field, Quantity, field_of};
use crate::grid::FOLD;

/// The metrics over held-out samples that are shown.
const SHOWN: [Metric; 3] = [Metric::Accuracy, Metric::F1, Metric::Loss];

/// The folds of one point of the rest of the grid.
#[derive(Serialize)]
pub(super) struct OverFolds {
    /// The other keys of the grid and their values.
    settings: Map<String, Value>,
    folds: usize,
    /// Each metric: of each fold the mean over its seeds, and these means as a sample.
    #[serde(flatten)]
    metrics: BTreeMap<&'static str, Option<Stats>>,
}

fn listed_fields() -> impl Iterator<Item = &'static Field> {
    let fields = SHOWN.into_iter();
    fields.filter_map(|metric| field_of(Quantity::HeldOut(metric)))
}

/// Every metric over folds, for each point of the rest of the grid; empty without folds.
pub(super) fn find(summary: &Summary) -> Vec<OverFolds> {
    let mut groups: Vec<(Map<String, Value>, Vec<usize>)> = Vec::new();
    for (index, point) in summary.points.iter().enumerate() {
        let mut others = point.values.clone();
        if others.remove(FOLD).is_none() {
            continue;
        }
        match groups.iter().position(|(known, _)| *known == others) {
            Some(group) => groups[group].1.push(index),
            None if groups.len() < MOST_ROWS => groups.push((others, vec![index])),
            None => {}
        }
    }
    let runs = summary.runs_of(summary.points.len(), |point, _| Some(point));
    // The mean over the seeds of a point; NaN if no run has the metric.
    let mean = |values: &[f64], point: usize| {
        let values = runs[point].iter().map(|&run| values[run]);
        let known: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        known.iter().sum::<f64>() / known.len() as f64
    };
    let over = |(settings, points): (Map<String, Value>, Vec<usize>)| OverFolds {
        settings,
        folds: points.len(),
        metrics: listed_fields()
            .map(|field| {
                let values = summary.columns.number(field.quantity);
                let means = points.iter().map(|&point| mean(values, point));
                (&*field.name, Stats::of(means))
            })
            .collect(),
    };
    groups.into_iter().map(over).collect()
}

/// The table of metrics over folds, if there are any.
pub(super) fn table(summary: &Summary) -> Option<Table> {
    let names = ["", "folds"]
        .into_iter()
        .chain(listed_fields().map(|field| &*field.label));
    let mut rows = vec![names.map(str::to_owned).collect::<Vec<_>>()];
    for group in find(summary) {
        let name = settings(&group.settings);
        let name = if name.is_empty() {
            "all runs".to_owned()
        } else {
            name
        };
        let mut row = vec![name, group.folds.to_string()];
        row.extend(listed_fields().map(|field| {
            let sample = group.metrics.get(&*field.name).and_then(Option::as_ref);
            // A fold whose held-out samples lack a class may have no F1.
            with_margin(sample, field.decimals, group.folds)
        }));
        rows.push(row);
    }
    let how = "mean over the folds ± half of its 95% interval (Student's t); a fold's value is the mean over its seeds that have \
               one, on the samples that the fold holds out";
    (rows.len() > 1).then(|| Table::of_text("Over folds", how, rows))
}
