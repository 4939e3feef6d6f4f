//! What a results file says as a whole.

use std::fmt::Write;
use std::path::Path;

use headlight_data::LabelRule;
use headlight_inspector::Histogram;
use headlight_inspector::distribution::{Panel, svg};
use serde_json::{Map, Value};

use super::plan::Plan;
use super::results::Lines;
use super::row::Line;
use crate::Failure;
use crate::files::open;
use crate::report::number;

/// The quantiles of the table.
const QUANTILES: [(&str, f64); 5] = [
    ("min", 0.0),
    ("5%", 0.05),
    ("median", 0.5),
    ("95%", 0.95),
    ("max", 1.0),
];

/// Quantities of each run that did not fail, side by side.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The grid's values at each point, in words; a single empty one where there is no grid.
    points: Vec<String>,
    failed: Vec<usize>,
    /// The positions that decide the label, in words.
    watched: String,
    /// What attention there would be if uniform.
    uniform: Option<f64>,
    point: Vec<usize>,
    quantities: Vec<Quantity>,
}

#[derive(Clone, Debug)]
struct Quantity {
    name: String,
    decimals: usize,
    values: Vec<Option<f64>>,
}

/// Places of quantities in [`Summary::quantities`].
const LOSS: usize = 0;
const HELD_OUT_F1: usize = 2;
const POSITIVE: usize = 3;
const LEARNED: usize = 5;

impl Summary {
    /// Reads the results of a plan.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(path: &Path, plan: &Plan) -> Result<Self, Failure> {
        let points: Vec<String> = plan
            .points()
            .iter()
            .map(|point| words(&point.values))
            .collect();
        let config = plan.points()[0].config();
        let watched = Watched::of(config.data.rule.as_ref());
        let name = watched.words();
        let quantity = |name: &str, decimals| Quantity {
            name: name.to_owned(),
            decimals,
            values: Vec::new(),
        };
        let mut summary = Self {
            failed: vec![0; points.len()],
            points,
            uniform: watched.uniform(config.data.seq_len + 1),
            point: Vec::new(),
            quantities: vec![
                quantity("final loss", 5),
                quantity("accuracy", 5),
                quantity("held-out F1", 4),
                quantity(&format!("attention on {name}, positives"), 3),
                quantity(&format!("attention on {name}, negatives"), 3),
                quantity("learned at step", 0),
            ],
            watched: name,
        };
        let file = open(path, u64::MAX)?;
        let mut lines = Lines::new(file, path);
        while let Some(text) = lines.next_whole()? {
            let line = Line::parse(&text).map_err(|reason| Failure::reading(path, reason))?;
            let point = line.point.unwrap_or(0);
            if line.fields.contains_key("error") {
                summary.failed[point] += 1;
                continue;
            }
            summary.point.push(point);
            let number = |key: &str| line.fields.get(key).and_then(Value::as_f64);
            let values = [
                number("final_loss"),
                number("accuracy"),
                number("held_out_f1"),
                watched.attention(&line.fields, "attention_positive"),
                watched.attention(&line.fields, "attention_negative"),
                number("learned_at_step"),
            ];
            for (quantity, value) in summary.quantities.iter_mut().zip(values) {
                quantity.values.push(value);
            }
        }
        Ok(summary)
    }

    /// Runs, failed ones among them.
    pub fn runs(&self) -> usize {
        self.point.len() + self.failures()
    }

    /// Runs that failed.
    pub fn failures(&self) -> usize {
        self.failed.iter().sum()
    }

    /// The table, and histograms, for a terminal of so many columns.
    pub fn text(&self, columns: usize) -> String {
        let (runs, failed) = (self.runs(), self.failures());
        let learned = self.quantities[LEARNED].values.iter().flatten().count();
        let mut text = format!("\n{runs} runs");
        if failed > 0 {
            let _ = write!(text, ", {failed} failed");
        }
        let _ = writeln!(
            text,
            "; {learned} learned: held-out F1 reached 0.99 ({})\n",
            share(learned, runs)
        );
        text.push_str(&self.table());
        if self.points.len() > 1 {
            let _ = writeln!(text, "\n{}", self.by_point());
        }
        for place in [POSITIVE, LEARNED] {
            let quantity = &self.quantities[place];
            if let Some(histogram) = Histogram::of(&known(&quantity.values)) {
                let _ = write!(text, "\n{}\n{}", quantity.name, histogram.draw(columns));
            }
        }
        text
    }

    /// Mean, standard deviation and quantiles of each quantity over all runs.
    fn table(&self) -> String {
        let mut rows = vec![vec![String::new(), "mean".to_owned(), "sd".to_owned()]];
        rows[0].extend(QUANTILES.map(|(name, _)| name.to_owned()));
        for quantity in &self.quantities {
            let mut values = known(&quantity.values);
            if values.is_empty() {
                continue;
            }
            values.sort_by(f64::total_cmp);
            let (mean, sd) = mean_and_sd(&values);
            let cell = |value| number(Some(value), quantity.decimals);
            let mut row = vec![
                quantity.name.clone(),
                cell(mean),
                sd.map_or_else(String::new, cell),
            ];
            row.extend(QUANTILES.map(|(_, share)| cell(quantile(&values, share))));
            rows.push(row);
        }
        aligned(&rows)
    }

    /// A line for each point of the grid.
    fn by_point(&self) -> String {
        let header = [
            "",
            "runs",
            "failed",
            "learned",
            "median step",
            "final loss",
            "held-out F1",
            "attention",
        ];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        for (point, name) in self.points.iter().enumerate() {
            let of = |place: usize| {
                let quantity = &self.quantities[place].values;
                let mine = self
                    .point
                    .iter()
                    .zip(quantity)
                    .filter(|(at, _)| **at == point);
                let mut values: Vec<f64> = mine.filter_map(|(_, value)| *value).collect();
                values.sort_by(f64::total_cmp);
                values
            };
            let runs = self.point.iter().filter(|&&at| at == point).count();
            let steps = of(LEARNED);
            let mean = |place: usize| {
                let values = of(place);
                (!values.is_empty()).then(|| mean_and_sd(&values).0)
            };
            let attention = of(POSITIVE);
            let spread = match attention.as_slice() {
                [] => number(None, 3),
                values => {
                    let (mean, sd) = mean_and_sd(values);
                    sd.map_or_else(
                        || number(Some(mean), 3),
                        |sd| format!("{mean:.3} ± {sd:.3}"),
                    )
                }
            };
            rows.push(vec![
                name.clone(),
                (runs + self.failed[point]).to_string(),
                self.failed[point].to_string(),
                share(steps.len(), runs + self.failed[point]),
                number((!steps.is_empty()).then(|| quantile(&steps, 0.5)), 0),
                number(mean(LOSS), 5),
                number(mean(HELD_OUT_F1), 4),
                spread,
            ]);
        }
        aligned(&rows)
    }

    /// The picture: how strongly runs attend, when they learned, and how the two go together.
    pub fn picture(&self, title: &str) -> String {
        let [attention, learned] = [&self.quantities[POSITIVE], &self.quantities[LEARNED]];
        let both = learned.values.iter().zip(&attention.values);
        let points = both
            .filter_map(|(step, paid)| Some([(*step)?, (*paid)?]))
            .collect();
        svg(
            title,
            &[
                Panel::Histogram {
                    label: attention.name.clone(),
                    values: known(&attention.values),
                    mark: self.uniform.map(|uniform| (uniform, "uniform".to_owned())),
                },
                Panel::Histogram {
                    label: learned.name.clone(),
                    values: known(&learned.values),
                    mark: None,
                },
                Panel::Scatter {
                    labels: [
                        learned.name.clone(),
                        format!("attention on {}", self.watched),
                    ],
                    points,
                },
            ],
        )
    }
}

/// Where attention is measured.
enum Watched {
    /// On positions that always decide the label, added up.
    Positions(Vec<usize>),
    /// On whichever position has the most.
    Largest,
}

impl Watched {
    fn of(rule: Option<&LabelRule>) -> Self {
        match rule {
            Some(LabelRule::TokenAtPosition { position, .. }) => Self::Positions(vec![*position]),
            Some(LabelRule::EqualPositions { first, second }) => {
                Self::Positions(vec![*first, *second])
            }
            _ => Self::Largest,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Positions(positions) if positions.len() == 1 => {
                format!("position {}", positions[0])
            }
            Self::Positions(positions) => {
                let all: Vec<String> = positions.iter().map(usize::to_string).collect();
                format!("positions {}", all.join(" and "))
            }
            Self::Largest => "its main position".to_owned(),
        }
    }

    fn uniform(&self, positions: usize) -> Option<f64> {
        match self {
            Self::Positions(watched) => Some(watched.len() as f64 / positions as f64),
            Self::Largest => None,
        }
    }

    fn attention(&self, fields: &Map<String, Value>, key: &str) -> Option<f64> {
        let row = fields.get(key)?.as_array()?;
        let at = |position: usize| row.get(position)?.as_f64();
        match self {
            Self::Positions(positions) => positions.iter().map(|&position| at(position)).sum(),
            Self::Largest => (0..row.len()).filter_map(at).reduce(f64::max),
        }
    }
}

fn words(values: &[(String, Value)]) -> String {
    let pairs = values.iter().map(|(key, value)| match value {
        Value::String(text) => format!("{key}={text}"),
        other => format!("{key}={other}"),
    });
    pairs.collect::<Vec<_>>().join(" ")
}

fn known(values: &[Option<f64>]) -> Vec<f64> {
    values.iter().flatten().copied().collect()
}

fn share(part: usize, whole: usize) -> String {
    format!("{:.1}%", 100.0 * part as f64 / whole.max(1) as f64)
}

/// The mean, and the standard deviation of the sample where there is more than one value.
fn mean_and_sd(values: &[f64]) -> (f64, Option<f64>) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (
        mean,
        (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
    )
}

/// Of sorted values, by linear interpolation between neighbours, as `numpy.quantile` does by default.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// A Markdown table that is aligned as plain text, numbers to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows[0].len();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).max(2)).collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match column {
                0 => write!(text, "| {cell:width$} |"),
                _ => write!(text, " {cell:>width$} |"),
            };
        }
        text.push('\n');
        if index == 0 {
            for (column, &width) in widths.iter().enumerate() {
                let dashes = "-".repeat(width + 1);
                let _ = match column {
                    0 => write!(text, "|{dashes}-|"),
                    _ => write!(text, "{dashes}:|"),
                };
            }
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `numpy.quantile([1, 2, 4, 8], [0, .05, .5, .95, 1])`, `numpy.std([1, 2, 4, 8], ddof=1)`.
    #[test]
    fn statistics_are_numpys() {
        let values = [1.0, 2.0, 4.0, 8.0];
        for (share, expected) in [
            (0.0, 1.0),
            (0.05, 1.15),
            (0.5, 3.0),
            (0.95, 7.4),
            (1.0, 8.0),
        ] {
            assert!(
                (quantile(&values, share) - expected).abs() < 1e-12,
                "{share}"
            );
        }
        let (mean, sd) = mean_and_sd(&values);
        assert!((mean - 3.75).abs() < 1e-12);
        assert!(sd.is_some_and(|sd| (sd - 3.095_695_936_834_452_4).abs() < 1e-12));
    }
}
