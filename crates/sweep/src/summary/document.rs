//! The tables and plots of a summary.

use headlight_experiment::metrics;
use headlight_inspector::{Document, Plot, Section, Table, counted, evenly_spread, number};

use super::columns::{EPOCHS, LEARNED, LOSS, NEGATIVE, POSITIVE, numbers};
use super::groups::Group;
use super::standouts;
use super::statistics::{Sample, wilson};
use super::summary::Summary;
use crate::fields::Quantity;

/// The quantiles in the table of all runs.
const QUANTILES: [(&str, f64); 5] = [
    ("min", 0.0),
    ("5%", 0.05),
    ("median", 0.5),
    ("95%", 0.95),
    ("max", 1.0),
];

/// The quantiles of learning curves.
const BANDS: [(&str, f64); 5] = [
    ("5%", 0.05),
    ("25%", 0.25),
    ("median", 0.5),
    ("75%", 0.75),
    ("95%", 0.95),
];

/// The most groups, positions or reasons in a table, the most epochs in a table, and the most groups in a plot.
const MOST_ROWS: usize = 64;
const MOST_EPOCHS: usize = 16;
const MOST_GROUPS: usize = 24;

/// The most epochs in a learning curve.
const MOST_CURVE_EPOCHS: usize = 200;

impl Summary {
    /// The plots, as SVG.
    pub fn picture(&self, title: &str) -> String {
        self.document(title).plots_svg()
    }

    /// Paragraphs, tables and plots.
    pub fn document(&self, title: &str) -> Document {
        document(self, title)
    }
}

fn document(summary: &Summary, title: &str) -> Document {
    let epochs = curve(summary);
    let mut tables = vec![all_runs(summary)];
    tables.extend(failures(summary));
    tables.extend(standouts::table(summary));
    tables.extend(epoch_table(&epochs));
    tables.extend(positions_table(summary));
    let mut panels = distributions(summary);
    panels.extend(epoch_panel(&epochs));
    panels.extend(positions_panel(summary));
    let mut paragraphs = paragraphs(summary);
    for key in &summary.by {
        let mut values = summary.values_of(key);
        if values.len() > MOST_ROWS {
            paragraphs.push(format!(
                "{key} has {} values; the first {MOST_ROWS} are shown",
                values.len()
            ));
            values.truncate(MOST_ROWS);
        }
        let groups = summary.by_key(key, &values);
        tables.push(group_table(summary, &format!("By {key}"), &groups));
        panels.extend(group_panels(summary, key, &groups));
    }
    let points = summary.points.iter().filter(|point| point.runs > 0).count();
    match points {
        _ if summary.by.len() < 2 => {}
        2..=MOST_ROWS => {
            tables.push(group_table(
                summary,
                "By point of the grid",
                &summary.by_point(),
            ));
        }
        _ => paragraphs.push(format!("the grid has {points} points, too many to list")),
    }
    Document {
        title: title.to_owned(),
        paragraphs,
        sections: vec![Section {
            tables,
            plots: panels,
            ..Section::default()
        }],
    }
}

fn paragraphs(summary: &Summary) -> Vec<String> {
    let (runs, failed, learned) = (summary.runs(), summary.failures(), summary.learned());
    let failed = match failed {
        0 => String::new(),
        _ => format!(", {failed} failed"),
    };
    let runs_text = counted(runs, "run");
    let mut paragraphs = if let Some(watched) = summary.watched() {
        let [low, high] = wilson(learned, runs).map(|share| 100.0 * share);
        let share = share(learned, runs);
        vec![
            format!(
                "{runs_text}{failed}; {learned} learned ({share}): {watched} reached {}",
                metrics::LEARNED
            ),
            format!("95% confidence interval of that share (Wilson): {low:.2}% to {high:.2}%"),
        ]
    } else {
        vec![format!(
            "{runs_text}{failed}; whether they learned was not measured, since no samples were held out"
        )]
    };
    if summary.target_is_chosen && !summary.columns.list(POSITIVE).is_empty() {
        paragraphs.push(format!(
            "attention is measured on {}, which gets the most attention from positives over all runs",
            summary.target.name()
        ));
    }
    let outside = summary.columns.outside();
    if outside > 0 {
        paragraphs.push(format!(
            "{} of lists (`epoch_loss`, attention) {} outside the range of float32 and left out of all figures",
            counted(outside, "number"),
            if outside == 1 { "is" } else { "are" }
        ));
    }
    let every = summary.columns.every;
    if every > 1 {
        paragraphs.push(format!(
            "counts and shares cover all runs; all other figures cover {} of them: one in {every} of each point \
             of the grid",
            summary.columns.points.len()
        ));
    }
    paragraphs
}

/// Mean, standard deviation and quantiles of each quantity over all runs.
fn all_runs(summary: &Summary) -> Table {
    let mut rows = vec![header("", &["mean", "sd"], &QUANTILES)];
    let mut add = |name: &str, decimals: usize, sample: Option<Sample>| {
        let Some(sample) = sample else {
            return;
        };
        let mut row = vec![name.to_owned()];
        row.extend(mean_and_sd(&sample, decimals));
        row.extend(QUANTILES.map(|(_, share)| number(Some(sample.quantile(share)), decimals)));
        rows.push(row);
    };
    for field in numbers().filter(|field| field.quantity != LEARNED) {
        let column = summary.columns.number(field.quantity).iter();
        add(&field.label, field.decimals, Sample::of(column.copied()));
    }
    for (class, column) in ["positives", "negatives"].iter().zip(&summary.attention) {
        let name = format!("attention on {}, {class}", summary.target.name());
        add(&name, 3, Sample::of(column.iter().copied()));
    }
    let steps = summary.columns.number(LEARNED).iter();
    add("learned at step", 0, Sample::of(steps.copied()));
    let how = "final models; loss: mean cross-entropy over all samples; attention: of [CLS] in the last block, mean over \
               heads and samples of label 1 or more (positives) or 0 (negatives); sd: standard deviation; n%: n of 100 \
               runs are below";
    Table::of_text("All runs", how, rows)
}

/// Why runs failed, the most common reason first.
fn failures(summary: &Summary) -> Option<Table> {
    let mut reasons: Vec<_> = summary.reasons.values().collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.runs));
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

/// The losses of each epoch, over all runs that have it. If there are many epochs, a selection of them.
fn curve(summary: &Summary) -> Vec<(usize, Sample)> {
    let losses = summary.columns.list(EPOCHS);
    evenly_spread(losses.len(), MOST_CURVE_EPOCHS)
        .filter_map(|epoch| Some((epoch + 1, Sample::of(losses[epoch].iter().copied())?)))
        .collect()
}

fn epoch_table(epochs: &[(usize, Sample)]) -> Option<Table> {
    let mut rows = vec![header("epoch", &["runs", "mean"], &BANDS)];
    for (epoch, sample) in evenly_spread(epochs.len(), MOST_EPOCHS).map(|place| &epochs[place]) {
        let mut row = vec![
            epoch.to_string(),
            sample.len().to_string(),
            number(Some(sample.mean()), 5),
        ];
        row.extend(BANDS.map(|(_, share)| number(Some(sample.quantile(share)), 5)));
        rows.push(row);
    }
    let how = "batch loss, the mean loss of the batches of an epoch, over the runs that have it";
    (rows.len() > 1).then(|| Table::of_text("Learning curve", how, rows))
}

fn epoch_panel(epochs: &[(usize, Sample)]) -> Option<Plot> {
    let quantiles = |sample: &Sample| BANDS.map(|(_, share)| sample.quantile(share));
    (epochs.len() > 1).then(|| Plot::Bands {
        labels: ["epoch", "batch loss"].map(str::to_owned),
        times: epochs.iter().map(|(epoch, _)| *epoch as f64).collect(),
        quantiles: epochs.iter().map(|(_, sample)| quantiles(sample)).collect(),
        names: ["5% to 95%", "25% to 75%", "median"].map(str::to_owned),
    })
}

/// The attention of a class to each position.
fn by_position(summary: &Summary, class: Quantity) -> Vec<Option<Sample>> {
    let columns = summary.columns.list(class).iter().take(MOST_ROWS);
    columns
        .map(|column| Sample::of(column.iter().copied()))
        .collect()
}

const CLASSES: [(&str, Quantity); 2] = [("positives", POSITIVE), ("negatives", NEGATIVE)];

fn positions_table(summary: &Summary) -> Option<Table> {
    let classes = CLASSES.map(|(name, class)| (name, by_position(summary, class)));
    let positions = classes.iter().map(|(_, samples)| samples.len()).max()?;
    let mut top = vec!["position".to_owned()];
    for (name, _) in &classes {
        top.extend(["mean", "sd", "5%", "95%"].map(|what| format!("{name}: {what}")));
    }
    let mut rows = vec![top];
    for position in 0..positions {
        let mut row = vec![position.to_string()];
        for (_, samples) in &classes {
            match samples.get(position).and_then(Option::as_ref) {
                None => row.extend([(); 4].map(|()| number(None, 3))),
                Some(sample) => {
                    row.extend(mean_and_sd(sample, 3));
                    row.extend([0.05, 0.95].map(|share| number(Some(sample.quantile(share)), 3)));
                }
            }
        }
        rows.push(row);
    }
    let how = "each run's mean over heads and over the samples of a class";
    (rows.len() > 1).then(|| Table::of_text("Attention of [CLS] on each position", how, rows))
}

fn positions_panel(summary: &Summary) -> Option<Plot> {
    let range = |sample: Option<Sample>| {
        sample.map(|sample| [0.05, 0.5, 0.95].map(|share| sample.quantile(share)))
    };
    let sets = CLASSES.map(|(name, class)| {
        let ranges = by_position(summary, class).into_iter().map(range).collect();
        (name.to_owned(), ranges)
    });
    let positions = positions(summary);
    (positions > 0).then(|| Plot::Ranges {
        labels: ["position", "attention of [CLS] (median, 5% to 95%)"].map(str::to_owned),
        groups: (0..positions.min(MOST_ROWS))
            .map(|position| position.to_string())
            .collect(),
        sets: sets.to_vec(),
        mark: Some((1.0 / positions as f64, "uniform".to_owned())),
    })
}

/// The number of positions of the longest samples.
fn positions(summary: &Summary) -> usize {
    let lists = [POSITIVE, NEGATIVE].map(|class| summary.columns.list(class).len());
    lists[0].max(lists[1])
}

/// Histograms of the main quantities, and a scatter plot of two of them.
fn distributions(summary: &Summary) -> Vec<Plot> {
    let known = |column: &[f64]| -> Vec<f64> {
        let known = column.iter().filter(|value| value.is_finite());
        known.copied().collect()
    };
    let (attention, steps) = (&summary.attention[0], summary.columns.number(LEARNED));
    let positions = positions(summary);
    let uniform = summary.target.uniform(positions);
    let name = format!("attention on {}", summary.target.name());
    let both = steps.iter().zip(attention);
    let points = both
        .filter(|(step, paid)| step.is_finite() && paid.is_finite())
        .map(|(&step, &paid)| [step, f64::from(paid)])
        .collect();
    vec![
        Plot::Histogram {
            label: "final loss".to_owned(),
            values: known(summary.columns.number(LOSS)),
            mark: None,
        },
        Plot::Histogram {
            label: format!("{name}, positives"),
            values: attention
                .iter()
                .filter(|value| value.is_finite())
                .map(|&value| f64::from(value))
                .collect(),
            mark: uniform.map(|uniform| (uniform, "uniform".to_owned())),
        },
        Plot::Histogram {
            label: "learned at step".to_owned(),
            values: known(steps),
            mark: None,
        },
        Plot::Scatter {
            labels: ["learned at step".to_owned(), name],
            points,
        },
    ]
}

/// A table with one row per group.
fn group_table(summary: &Summary, title: &str, groups: &[Group]) -> Table {
    let mut rows = vec![
        [
            "",
            "runs",
            "failed",
            "learned",
            "95% interval",
            "median step",
            "final loss",
            "held-out F1",
            "attention",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    let is_measured = summary.watched().is_some();
    for group in groups {
        let [learned, interval] = if is_measured {
            let [low, high] = wilson(group.learned, group.runs).map(|share| 100.0 * share);
            let interval = format!("{low:.1}–{high:.1}%");
            [share(group.learned, group.runs), interval]
        } else {
            ["not measured".to_owned(), number(None, 1)]
        };
        let median = group.steps.as_ref().map(|steps| steps.quantile(0.5));
        rows.push(vec![
            group.name.clone(),
            group.runs.to_string(),
            group.failed.to_string(),
            learned,
            interval,
            number(median, 0),
            with_margin(group.loss.as_ref(), 5),
            with_margin(group.held_out_f1.as_ref(), 4),
            with_margin(group.attention.as_ref(), 3),
        ]);
    }
    let how = format!(
        "means ± half of their 95% interval (Student's t); attention is that on {}, of positives; the 95% interval is \
             Wilson's of the share that learned; median step is that at which runs learned; final loss is over the \
             training samples",
        summary.target.name()
    );
    Table::of_text(title, &how, rows)
}

/// Plots the share that learned, the loss and the attention by the values of a key.
fn group_panels(summary: &Summary, key: &str, groups: &[Group]) -> Vec<Plot> {
    let groups = &groups[..groups.len().min(MOST_GROUPS)];
    let learned = |group: &Group| {
        let [low, high] = wilson(group.learned, group.runs);
        Some([low, group.learned as f64 / group.runs as f64, high])
    };
    let learned = summary.watched().map(|_| {
        let shares = groups.iter().map(learned).collect();
        ("share that learned".to_owned(), shares)
    });
    let mean = |sample: &Option<Sample>| {
        let sample = sample.as_ref()?;
        let (mean, margin) = (sample.mean(), sample.margin().unwrap_or(0.0));
        // Of the largest numbers, the interval's ends are no numbers.
        Some([mean - margin, mean, mean + margin])
            .filter(|range| range.iter().all(|end| end.is_finite()))
    };
    let attention = format!("attention on {}", summary.target.name());
    let means = [
        (
            "mean final loss".to_owned(),
            groups.iter().map(|group| mean(&group.loss)).collect(),
        ),
        (
            attention,
            groups.iter().map(|group| mean(&group.attention)).collect(),
        ),
    ];
    let panel = |(what, ranges): (String, Vec<Option<[f64; 3]>>)| Plot::Ranges {
        labels: [key.to_owned(), format!("{what} (95% interval)")],
        groups: groups.iter().map(|group| group.name.clone()).collect(),
        sets: vec![(String::new(), ranges)],
        mark: None,
    };
    learned.into_iter().chain(means).map(panel).collect()
}

fn header(name: &str, before: &[&str], quantiles: &[(&str, f64)]) -> Vec<String> {
    let quantiles = quantiles.iter().map(|(name, _)| name);
    [&name]
        .into_iter()
        .chain(before)
        .chain(quantiles)
        .map(|name| (*name).to_owned())
        .collect()
}

fn mean_and_sd(sample: &Sample, decimals: usize) -> [String; 2] {
    let sd = sample.sd();
    [
        number(Some(sample.mean()), decimals),
        sd.map_or_else(String::new, |sd| number(Some(sd), decimals)),
    ]
}

fn with_margin(sample: Option<&Sample>, decimals: usize) -> String {
    let Some(sample) = sample else {
        return number(None, decimals);
    };
    let mean = number(Some(sample.mean()), decimals);
    match sample.margin() {
        Some(margin) => format!("{mean} ± {}", number(Some(margin), decimals)),
        None => mean,
    }
}

fn share(part: usize, whole: usize) -> String {
    format!("{:.1}%", 100.0 * part as f64 / whole.max(1) as f64)
}
