//! Groups of runs side by side, by the values of a key or by point of the grid.

use headlight_experiment::metrics::wilson;
use headlight_inspector::{Plot, Table, number};
use serde_json::Value;

use super::cells::{share, with_margin};
use super::columns::{Column, LOSS, compared};
use super::groups::Group;
use super::statistics::Sample;
use super::summary::Summary;

/// The most groups in a plot.
const MOST_GROUPS: usize = 24;

/// The fewest numbers that a curve is drawn through.
const LEAST_OF_CURVE: usize = 3;

/// A table with one row per group.
pub(super) fn group_table(summary: &Summary, title: &str, groups: &[Group]) -> Table {
    let counts = [
        "",
        "runs",
        "failed",
        "learned",
        "95% interval",
        "median step",
    ];
    let more = more(summary);
    let metrics = compared().map(|field| &*field.label);
    let metrics = metrics.chain(more.iter().map(|(_, column)| &*column.label));
    let is_attended = summary.is_measured();
    let is_compared = summary.knows_uniform();
    let attention: &[&str] = match (is_attended, is_compared) {
        (true, true) => &["attention", "more", "less"],
        (true, false) => &["attention"],
        (false, _) => &[],
    };
    let names = counts
        .into_iter()
        .chain(metrics)
        .chain(attention.iter().copied());
    let mut rows = vec![names.map(str::to_owned).collect::<Vec<_>>()];
    for group in groups {
        let [low, high] = wilson(group.learned, group.runs).map(|share| 100.0 * share);
        let median = group.steps.as_ref().map(|steps| steps.quantile(0.5));
        let mut row = vec![
            group.name.clone(),
            group.runs.to_string(),
            group.failed.to_string(),
            share(group.learned, group.runs),
            format!("{low:.1}–{high:.1}%"),
            number(median, 0),
        ];
        let metrics = compared().zip(&group.metrics);
        row.extend(metrics.map(|(field, sample)| with_margin(sample.as_ref(), field.decimals)));
        let more = more
            .iter()
            .map(|(place, column)| (column.decimals, &group.compared[*place]));
        row.extend(more.map(|(decimals, sample)| with_margin(sample.as_ref(), decimals)));
        if is_attended {
            row.push(with_margin(group.attention.as_ref(), 3));
        }
        if is_compared {
            row.extend([group.looks.towards, group.looks.away].map(|count| count.to_string()));
        }
        rows.push(row);
    }
    let attention = if is_attended {
        format!(
            "attention is that on {}, of {}; {}",
            summary.target_name(),
            summary.about.classes[0],
            if is_compared {
                "more: runs that look there more than uniformly; less: runs that look there less; "
            } else {
                ""
            }
        )
    } else {
        String::new()
    };
    let how = format!(
        "means ± half of their 95% interval (Student's t); {attention}the 95% interval is Wilson's of the share that \
         learned; median step is that at which runs learned; final loss is over {}",
        if summary.has_epochs() {
            "the training samples"
        } else {
            "the batch of the last step"
        }
    );
    Table::of_text(title, &how, rows)
}

/// The numbers to be compared that are not compared in any case, with their places.
fn more(summary: &Summary) -> Vec<(usize, &Column)> {
    let is_more =
        |(_, column): &(usize, &Column)| compared().all(|field| field.quantity != column.quantity);
    let columns = summary.compared().into_iter().enumerate();
    columns.filter(is_more).collect()
}

/// Plots the share that learned, the loss, the attention and the numbers to be compared by the values of a key: as a curve if
/// the values are numbers.
pub(super) fn group_panels(
    summary: &Summary,
    key: &str,
    values: &[Value],
    groups: &[Group],
) -> Vec<Plot> {
    let numbers: Option<Vec<f64>> = values.iter().map(Value::as_f64).collect();
    let numbers = numbers.filter(|numbers| numbers.len() >= LEAST_OF_CURVE);
    let most = if numbers.is_some() {
        groups.len()
    } else {
        MOST_GROUPS
    };
    let groups = &groups[..groups.len().min(most)];
    let learned = |group: &Group| {
        let [low, high] = wilson(group.learned, group.runs);
        Some([low, group.learned as f64 / group.runs as f64, high])
    };
    let shares = groups.iter().map(learned).collect();
    let learned = ("share that learned".to_owned(), shares);
    let mean = |sample: &Option<Sample>| {
        let sample = sample.as_ref()?;
        let (mean, margin) = (sample.mean(), sample.margin().unwrap_or(0.0));
        // For the largest numbers, the ends of the interval are NaN or infinite.
        Some([mean - margin, mean, mean + margin])
            .filter(|range| range.iter().all(|end| end.is_finite()))
    };
    let attention = format!("attention on {}", summary.target_name());
    let loss = compared().position(|field| field.quantity == LOSS);
    let loss = loss.map(|place| {
        let means = groups.iter().map(|group| mean(&group.metrics[place]));
        ("mean final loss".to_owned(), means.collect())
    });
    let attention = (
        attention,
        groups.iter().map(|group| mean(&group.attention)).collect(),
    );
    let numbers_compared = summary
        .compared()
        .into_iter()
        .enumerate()
        .map(|(place, column)| {
            let means = groups.iter().map(|group| mean(&group.compared[place]));
            (format!("mean {}", column.label), means.collect())
        });
    let panel = |(what, ranges): (String, Vec<Option<[f64; 3]>>)| {
        let labels = [key.to_owned(), format!("{what} (95% interval)")];
        let names = groups.iter().map(|group| group.name.clone()).collect();
        match &numbers {
            Some(values) => Plot::Trend {
                labels,
                values: values.clone(),
                names,
                ranges,
            },
            None => Plot::Ranges {
                labels,
                groups: names,
                sets: vec![(String::new(), ranges)],
                mark: None,
            },
        }
    };
    let attention = summary.is_measured().then_some(attention);
    let panels = [learned]
        .into_iter()
        .chain(loss)
        .chain(attention)
        .chain(numbers_compared);
    panels.map(panel).collect()
}
