//! The attention of `[CLS]` to each position.

use headlight_inspector::{Plot, Table, number};

use super::cells::{MOST_ROWS, mean_and_sd};
use super::columns::{NEGATIVE, POSITIVE};
use super::statistics::Sample;
use super::summary::Summary;

/// The attention of each class to each position, and the name of the class.
fn by_position(summary: &Summary) -> [(&str, Vec<Option<Sample>>); 2] {
    let samples = |class| {
        let columns = summary.columns.list(class).into_iter().take(MOST_ROWS);
        columns
            .map(|column| Sample::of(column.values.iter().copied()))
            .collect()
    };
    let [positive, negative] = &summary.about.classes;
    [(positive, samples(POSITIVE)), (negative, samples(NEGATIVE))]
}

pub(super) fn positions_table(summary: &Summary) -> Option<Table> {
    let classes = by_position(summary);
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
    let how = format!(
        "each run's mean over heads and over the samples of a class{}",
        lengths(summary)
    );
    let title = format!("Attention of {} on each position", summary.about.reader);
    (rows.len() > 1).then(|| Table::of_text(&title, &how, rows))
}

pub(super) fn positions_panel(summary: &Summary) -> Option<Plot> {
    let range = |sample: Option<Sample>| {
        sample.map(|sample| [0.05, 0.5, 0.95].map(|share| sample.quantile(share)))
    };
    let sets = by_position(summary).map(|(name, samples)| {
        (
            name.to_owned(),
            samples.into_iter().map(range).collect::<Vec<_>>(),
        )
    });
    let positions = sets.iter().map(|(_, ranges)| ranges.len()).max()?;
    let uniform = summary.about.uniform();
    (positions > 0).then(|| Plot::Ranges {
        labels: [
            format!("position{}", lengths(summary)),
            format!("attention of {} (median, 5% to 95%)", summary.about.reader),
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
    if summary.about.padded {
        "; late positions are small because short samples lack them"
    } else {
        ""
    }
}
