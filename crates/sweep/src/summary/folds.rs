//! Metrics over the folds of a cross-validation.

use std::collections::BTreeMap;

use headlight_experiment::metrics::Metric;
use headlight_inspector::Table;
use serde::Serialize;
use serde_json::Value;

use super::cells::{MOST_ROWS, with_margin};
use super::columns::field_of;
use super::groups::settings;
use super::statistics::Sample;
use super::summary::Summary;
use crate::fields::{Field, Quantity};
use crate::grid::FOLD;

/// The metrics over held-out samples that are shown.
const SHOWN: [Metric; 3] = [Metric::Accuracy, Metric::F1, Metric::Loss];

/// The folds of one point of the rest of the grid.
#[derive(Serialize)]
pub(super) struct OverFolds<'a> {
    /// The other keys of the grid and their values.
    settings: BTreeMap<&'a str, &'a Value>,
    folds: usize,
    /// Each metric: of each fold the mean over its seeds, and these means as a sample.
    #[serde(flatten)]
    metrics: BTreeMap<&'a str, Option<Sample>>,
}

fn shown() -> impl Iterator<Item = &'static Field> {
    SHOWN.into_iter().filter_map(|metric| {
        let held_out = true;
        field_of(Quantity::Metric { metric, held_out })
    })
}

/// The values of the grid's keys without the fold.
type Others<'a> = Vec<&'a (String, Value)>;

/// Every metric over folds, for each point of the rest of the grid; empty without folds.
pub(super) fn find(summary: &Summary) -> Vec<OverFolds<'_>> {
    let mut groups: Vec<(Others<'_>, Vec<usize>)> = Vec::new();
    for (index, point) in summary.points.iter().enumerate() {
        if !point.values.iter().any(|(key, _)| key == FOLD) {
            continue;
        }
        let others = point.values.iter().filter(|(key, _)| key != FOLD);
        let others: Vec<_> = others.collect();
        match groups.iter().position(|(known, _)| *known == others) {
            Some(place) => groups[place].1.push(index),
            None if groups.len() < MOST_ROWS => groups.push((others, vec![index])),
            None => {}
        }
    }
    let columns = &summary.columns;
    // The mean over the seeds of each point. `[point]`
    let means = |field: &Field| {
        let mut sums = vec![(0.0, 0_usize); summary.points.len()];
        let values = columns.points.iter().zip(columns.number(field.quantity));
        for (&point, &value) in values.filter(|(_, value)| value.is_finite()) {
            let (sum, count) = &mut sums[point as usize];
            *sum += value;
            *count += 1;
        }
        let mean = |(sum, count)| {
            if count == 0 {
                f64::NAN
            } else {
                sum / count as f64
            }
        };
        sums.into_iter().map(mean).collect::<Vec<f64>>()
    };
    let means: Vec<(&'static Field, Vec<f64>)> =
        shown().map(|field| (field, means(field))).collect();
    let mut found = Vec::new();
    for (others, points) in groups {
        let metric = |(field, means): &(&'static Field, Vec<f64>)| {
            let of_points = points.iter().map(|&point| means[point]);
            (&*field.name, Sample::of(of_points))
        };
        found.push(OverFolds {
            folds: points.len(),
            metrics: means.iter().map(metric).collect(),
            settings: others
                .into_iter()
                .map(|(key, value)| (&**key, value))
                .collect(),
        });
    }
    found
}

/// The table of metrics over folds, if there are any.
pub(super) fn table(summary: &Summary) -> Option<Table> {
    let names = ["", "folds"]
        .into_iter()
        .chain(shown().map(|field| &*field.label));
    let mut rows = vec![names.map(str::to_owned).collect::<Vec<_>>()];
    for group in find(summary) {
        let values = group.settings.iter();
        let values = values.map(|(&key, &value)| (key, value));
        let name = settings(&values.collect::<Vec<_>>());
        let name = if name.is_empty() {
            "all runs".to_owned()
        } else {
            name
        };
        let mut row = vec![name, group.folds.to_string()];
        row.extend(shown().map(|field| {
            let sample = group.metrics.get(&*field.name).and_then(Option::as_ref);
            let cell = with_margin(sample, field.decimals);
            // A fold whose held-out samples lack a class may have no F1.
            match sample.map(Sample::len) {
                Some(known) if known < group.folds => {
                    format!("{cell} ({known} of {} folds)", group.folds)
                }
                _ => cell,
            }
        }));
        rows.push(row);
    }
    let how = "mean over the folds ± half of its 95% interval (Student's t); each fold is the mean over its seeds, on the \
               samples that its models did not see";
    (rows.len() > 1).then(|| Table::of_text("Over folds", how, rows))
}
