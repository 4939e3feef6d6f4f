//! The losses of each epoch.

use headlight_inspector::{Plot, Table, evenly_spread, number};

use super::cells::header;
use super::columns::EPOCHS;
use super::statistics::Sample;
use super::summary::Summary;

/// The quantiles of learning curves.
const BANDS: [(&str, f64); 5] = [
    ("5%", 0.05),
    ("25%", 0.25),
    ("median", 0.5),
    ("75%", 0.75),
    ("95%", 0.95),
];

/// The most epochs in the table, and in the plot.
const MOST_EPOCHS: usize = 16;
const MOST_CURVE_EPOCHS: usize = 200;

/// The losses of each epoch, over all runs that have it. If there are many epochs, a selection of them.
pub(super) fn curve(summary: &Summary) -> Vec<(usize, Sample)> {
    let losses = summary.columns.list(EPOCHS);
    evenly_spread(losses.len(), MOST_CURVE_EPOCHS)
        .filter_map(|epoch| Some((epoch + 1, Sample::of(losses[epoch].values.iter().copied())?)))
        .collect()
}

pub(super) fn epoch_table(epochs: &[(usize, Sample)]) -> Option<Table> {
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

pub(super) fn epoch_panel(epochs: &[(usize, Sample)]) -> Option<Plot> {
    let quantiles = |sample: &Sample| BANDS.map(|(_, share)| sample.quantile(share));
    (epochs.len() > 1).then(|| Plot::Bands {
        labels: ["epoch", "batch loss"].map(str::to_owned),
        times: epochs.iter().map(|(epoch, _)| *epoch as f64).collect(),
        quantiles: epochs.iter().map(|(_, sample)| quantiles(sample)).collect(),
        names: ["5% to 95%", "25% to 75%", "median"].map(str::to_owned),
    })
}
