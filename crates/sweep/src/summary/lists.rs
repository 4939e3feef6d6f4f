//! What runs hold in lists: the losses of each epoch, and the attention of the readout position to each position.

use headlight_report::{Plot, Table, evenly_spread, number};

use super::cells::{MOST_ROWS, mean_and_sd};
use super::columns::{ATTENTION_NEGATIVE, ATTENTION_POSITIVE, EPOCH_LOSS};
use super::statistics::Stats;
use super::summary::Summary;

/// The most epochs in the table, and in the plot.
const MOST_EPOCHS: usize = 16;
const MOST_CURVE_EPOCHS: usize = 200;

/// The losses of each epoch, over all runs that have it. If there are many epochs, a selection of them.
pub(super) fn epoch_losses(summary: &Summary) -> Vec<(usize, Stats)> {
    let losses = summary.columns.list(EPOCH_LOSS);
    evenly_spread(losses.len(), MOST_CURVE_EPOCHS)
        .filter_map(|epoch| Some((epoch + 1, Stats::of(losses[epoch].values.iter().copied())?)))
        .collect()
}

/// The quantiles of learning curves.
fn bands(stats: &Stats) -> [f64; 5] {
    let Stats {
        p5,
        p25,
        median,
        p75,
        p95,
        ..
    } = *stats;
    [p5, p25, median, p75, p95]
}

pub(super) fn epoch_table(epochs: &[(usize, Stats)]) -> Option<Table> {
    let header = ["epoch", "runs", "mean", "5%", "25%", "median", "75%", "95%"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for (epoch, stats) in evenly_spread(epochs.len(), MOST_EPOCHS).map(|index| &epochs[index]) {
        let mut row = vec![
            epoch.to_string(),
            stats.runs.to_string(),
            number(Some(stats.mean), 5),
        ];
        row.extend(bands(stats).map(|value| number(Some(value), 5)));
        rows.push(row);
    }
    let how = "batch loss, the mean loss of the batches of an epoch, over the runs that have it";
    (rows.len() > 1).then(|| Table::of_text("Learning curve", how, rows))
}

pub(super) fn epoch_panel(epochs: &[(usize, Stats)]) -> Option<Plot> {
    (epochs.len() > 1).then(|| Plot::Bands {
        labels: ["epoch", "batch loss"].map(str::to_owned),
        times: epochs.iter().map(|(epoch, _)| *epoch as f64).collect(),
        quantiles: epochs.iter().map(|(_, stats)| bands(stats)).collect(),
        names: ["5% to 95%", "25% to 75%", "median"].map(str::to_owned),
    })
}

/// The attention of each class to each position, and the name of the class.
fn by_position(summary: &Summary) -> [(&str, Vec<Option<Stats>>); 2] {
    let list = |class| {
        let columns = summary.columns.list(class).into_iter().take(MOST_ROWS);
        columns
            .map(|column| Stats::of(column.values.iter().copied()))
            .collect()
    };
    let [positive, negative] = &summary.facts.classes;
    [
        (positive, list(ATTENTION_POSITIVE)),
        (negative, list(ATTENTION_NEGATIVE)),
    ]
}

pub(super) fn positions_table(summary: &Summary) -> Option<Table> {
    let classes = by_position(summary);
    let positions = classes.iter().map(|(_, list)| list.len()).max()?;
    let mut top = vec!["position".to_owned()];
    for (name, _) in &classes {
        top.extend(["mean", "sd", "5%", "95%"].map(|what| format!("{name}: {what}")));
    }
    let mut rows = vec![top];
    for position in 0..positions {
        let mut row = vec![position.to_string()];
        for (_, list) in &classes {
            match list.get(position).and_then(Option::as_ref) {
                None => row.extend([(); 4].map(|()| number(None, 3))),
                Some(stats) => {
                    row.extend(mean_and_sd(stats, 3, summary.runs()));
                    row.extend([stats.p5, stats.p95].map(|value| number(Some(value), 3)));
                }
            }
        }
        rows.push(row);
    }
    let how = format!(
        "each run's mean over heads and over the samples of a class{}",
        lengths(summary)
    );
    let title = format!("Attention of {} on each position", summary.facts.reader);
    (rows.len() > 1).then(|| Table::of_text(&title, &how, rows))
}

pub(super) fn positions_panel(summary: &Summary) -> Option<Plot> {
    let range = |stats: Option<Stats>| {
        let Stats {
            p5, median, p95, ..
        } = stats?;
        Some([p5, median, p95])
    };
    let sets = by_position(summary).map(|(name, list)| {
        (
            name.to_owned(),
            list.into_iter().map(range).collect::<Vec<_>>(),
        )
    });
    let positions = sets.iter().map(|(_, ranges)| ranges.len()).max()?;
    let uniform = summary.facts.uniform();
    (positions > 0).then(|| Plot::Ranges {
        labels: [
            format!("position{}", lengths(summary)),
            format!("attention of {} (median, 5% to 95%)", summary.facts.reader),
        ],
        groups: (0..positions)
            .map(|position| position.to_string())
            .collect(),
        numbers: Vec::new(),
        sets: sets.to_vec(),
        mark: uniform.map(|uniform| (uniform, "uniform".to_owned())),
    })
}

/// What samples of different lengths do to means by position, of which rows hold no more.
fn lengths(summary: &Summary) -> &'static str {
    if summary.facts.padded {
        "; late positions are small because short samples lack them"
    } else {
        ""
    }
}
