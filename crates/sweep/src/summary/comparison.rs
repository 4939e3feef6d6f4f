//! Groups of runs side by side, by the values of a key or by point of the grid.

use headlight_report::{Plot, Table, number};
use serde_json::Value;

use super::cells::{share, with_margin};
use super::columns::{Column, FINAL_LOSS};
use super::groups::Group;
use super::statistics::Stats;
use super::summary::{Counts, Summary};

/// The most groups in a plot.
const MOST_GROUPS: usize = 24;

/// The fewest numbers that a curve is drawn through.
const LEAST_OF_CURVE: usize = 3;

/// The mean of each group, between the ends of its interval.
type Ranges = Vec<Option<[f64; 3]>>;

/// A table with one row per group.
pub(super) fn group_table(summary: &Summary, title: &str, groups: &[Group<'_>]) -> Table {
    let columns = summary.of_groups();
    let is_attended = summary.is_measured();
    let counts = ["", "runs", "failed", "learned", "95% interval"];
    let mut header = counts.map(str::to_owned).to_vec();
    let mut step = "";
    if summary.steps_from.is_none() {
        header.push("median step".to_owned());
        step = "median step is that at which runs learned; ";
    }
    header.extend(columns.iter().map(|column| column.label.clone()));
    let mut attention = String::new();
    if is_attended {
        let (target, class) = (summary.target_name(), &summary.facts.classes[0]);
        attention = format!("attention is that on {target}, of {class}; ");
        header.push("attention".to_owned());
    }
    if summary.knows_uniform() {
        attention +=
            "more: runs that look there more than uniformly; less: runs that look there less; ";
        header.extend(["more", "less"].map(str::to_owned));
    }
    let row = |group: &Group<'_>| {
        let counts = group.counts;
        let interval = counts
            .interval()
            .map(|ends| ends.map(|share| 100.0 * share));
        let median = group.steps.as_ref().map(|steps| steps.median);
        let mut row = vec![
            group.name.clone(),
            counts.runs.to_string(),
            counts.failed.to_string(),
            share(counts.learned, counts.runs),
            interval.map_or_else(
                || number(None, 0),
                |[low, high]| format!("{low:.1}–{high:.1}%"),
            ),
        ];
        if summary.steps_from.is_none() {
            row.push(number(median, 0));
        }
        let numbers = group.numbers.iter();
        let mean =
            |stats: &Option<Stats>, decimals| with_margin(stats.as_ref(), decimals, counts.runs);
        row.extend(numbers.map(|(column, stats)| mean(stats, column.decimals)));
        if is_attended {
            row.push(mean(&group.attention, 3));
        }
        let looks = counts.looks.into_iter().flatten();
        row.extend(looks.map(|count| count.to_string()));
        row
    };
    let rows = [header].into_iter().chain(groups.iter().map(row)).collect();
    let how = format!(
        "means ± half of their 95% interval (Student's t); {attention}the 95% interval is Wilson's of the share that \
         learned; runs with different settings have neither interval; {step}final loss is over {}",
        if summary.has_epochs() {
            "the training samples"
        } else {
            "the batch of the last step"
        }
    );
    Table::of_text(title, &how, rows)
}

/// Plots the share that learned, the loss, the attention and the compared numbers by the values of a key. Values that are numbers
/// give a curve.
pub(super) fn group_panels(
    summary: &Summary,
    key: &str,
    values: &[Value],
    groups: &[Group<'_>],
) -> Vec<Plot> {
    let numbers: Option<Vec<f64>> = values.iter().map(Value::as_f64).collect();
    let numbers = numbers.filter(|numbers| numbers.len() >= LEAST_OF_CURVE);
    let most = if numbers.is_some() {
        groups.len()
    } else {
        MOST_GROUPS
    };
    let groups = &groups[..groups.len().min(most)];
    let learned = |group: &Group<'_>| {
        let Counts { runs, learned, .. } = group.counts;
        let share = learned as f64 / runs as f64;
        let [low, high] = group.counts.interval().unwrap_or([share; 2]);
        Some([low, share, high])
    };
    let mean = |stats: &Option<Stats>| {
        let stats = stats.as_ref()?;
        let (mean, margin) = (stats.mean, stats.margin.unwrap_or(0.0));
        // For the largest numbers, the ends of the interval are NaN or infinite.
        Some([mean - margin, mean, mean + margin])
            .filter(|range| range.iter().all(|end| end.is_finite()))
    };
    let means = |name: &str| -> Ranges {
        let same = |(column, _): &&(&Column, _)| column.name == name;
        let of_group = |group: &Group<'_>| mean(&group.numbers.iter().find(same)?.1);
        groups.iter().map(of_group).collect()
    };
    let mut panels = vec![(
        "share that learned".to_owned(),
        groups.iter().map(learned).collect(),
    )];
    for column in summary.columns.list(FINAL_LOSS) {
        panels.push(("mean final loss".to_owned(), means(&column.name)));
    }
    if summary.is_measured() {
        let attention = groups.iter().map(|group| mean(&group.attention)).collect();
        panels.push((format!("attention on {}", summary.target_name()), attention));
    }
    for column in summary.compared() {
        panels.push((format!("mean {}", column.label), means(&column.name)));
    }
    let has_interval = groups.iter().any(|group| group.counts.interval().is_some());
    let interval = if has_interval { " (95% interval)" } else { "" };
    let panel = |(what, ranges): (String, Ranges)| Plot::Ranges {
        labels: [key.to_owned(), format!("{what}{interval}")],
        groups: groups.iter().map(|group| group.name.clone()).collect(),
        numbers: numbers.clone().unwrap_or_default(),
        sets: vec![(String::new(), ranges)],
        mark: None,
    };
    panels.into_iter().map(panel).collect()
}
