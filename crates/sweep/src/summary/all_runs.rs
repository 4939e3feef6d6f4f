//! The quantities of all runs: a table of their quantiles, their distributions, and why runs failed.

use std::cmp::Reverse;

use headlight_report::{Plot, Table, number};

use super::cells::{MOST_ROWS, mean_and_sd};
use super::columns::{FINAL_LOSS, LEARNED_AT_STEP};
use super::statistics::Stats;
use super::summary::Summary;

/// Mean, standard deviation and quantiles of each quantity over all runs.
pub(super) fn all_runs(summary: &Summary) -> Table {
    let header = ["", "mean", "sd", "min", "5%", "median", "95%", "max"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    let mut add = |name: &str, decimals: usize, values: &[f64]| {
        let Some(stats) = Stats::of(values.iter().copied()) else {
            return;
        };
        let mut row = vec![name.to_owned()];
        row.extend(mean_and_sd(&stats, decimals, summary.runs()));
        let Stats {
            min,
            p5,
            median,
            p95,
            max,
            ..
        } = stats;
        row.extend([min, p5, median, p95, max].map(|value| number(Some(value), decimals)));
        rows.push(row);
    };
    for column in summary.columns.all() {
        if column.is_listed && column.quantity != LEARNED_AT_STEP {
            add(&column.label, column.decimals, &column.values);
        }
    }
    let target = summary.target_name();
    for (class, column) in summary.facts.classes.iter().zip(&summary.attention.paid) {
        add(&format!("{class}: attention on {target}"), 3, column);
    }
    add(
        "learned at step",
        0,
        summary.columns.number(LEARNED_AT_STEP),
    );
    let [end, over, shown] = if summary.has_epochs() {
        ["all epochs", "all samples", "training samples"]
    } else {
        [
            "the last step",
            "the batch of that step, or over all held-out samples",
            "held-out samples",
        ]
    };
    let how = format!(
        "final models, after {end}: a sweep uses neither training.keep_best nor training.patience; loss: mean \
         cross-entropy over {over}; attention: of {} in the last layer, mean over heads and {shown}; \
         sd: standard deviation; 5% and 95%: that share of the runs has a lower value",
        summary.facts.reader
    );
    Table::of_text("All runs", &how, rows)
}

/// Why runs failed, the most common reason first.
pub(super) fn failures(summary: &Summary) -> Option<Table> {
    let mut reasons: Vec<_> = summary.reasons.values().collect();
    reasons.sort_by_key(|reason| Reverse(reason.runs));
    let mut rows = vec![["reason", "runs", "first seed"].map(str::to_owned).to_vec()];
    for reason in reasons.iter().take(MOST_ROWS) {
        rows.push(vec![
            reason.message.clone(),
            reason.runs.to_string(),
            reason.seed.to_string(),
        ]);
    }
    let how = "messages that differ only in numbers are counted together; the first one is shown";
    (rows.len() > 1).then(|| Table::of_text("Failed runs", how, rows))
}

/// Histograms of the main quantities, and a scatter plot of two of them.
pub(super) fn distributions(summary: &Summary) -> Vec<Plot> {
    let (attention, steps) = (
        &summary.attention.paid[0],
        summary.columns.number(LEARNED_AT_STEP),
    );
    let histogram = |label: &str, column: &[f64], mark| {
        let known = column.iter().filter(|value| value.is_finite());
        Plot::Histogram {
            label: label.to_owned(),
            values: known.copied().collect(),
            mark,
        }
    };
    let loss = histogram("final loss", summary.columns.number(FINAL_LOSS), None);
    let has_steps = summary.steps_from.is_none();
    let learned = has_steps.then(|| histogram("learned at step", steps, None));
    if !summary.is_measured() {
        return [loss].into_iter().chain(learned).collect();
    }
    let name = format!("attention on {}", summary.target_name());
    let label = format!("{name}, {}", summary.facts.classes[0]);
    let uniform = summary.common_uniform();
    let mark = uniform.map(|uniform| (uniform, "uniform".to_owned()));
    let both = steps.iter().zip(attention);
    let both = both.map(|(&step, &paid)| [step, paid]);
    let scatter = has_steps.then(|| Plot::Scatter {
        labels: ["learned at step".to_owned(), name],
        points: both
            .filter(|point| point.iter().all(|value| value.is_finite()))
            .collect(),
    });
    let attention = histogram(&label, attention, mark);
    let all = [loss, attention].into_iter();
    all.chain(learned).chain(scatter).collect()
}
