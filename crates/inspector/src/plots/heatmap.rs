//! One attention matrix with its labels.

use headlight_dump::AttentionDump;

use crate::words::shorten;

/// The longest name of a token, in columns of a terminal.
const MOST_NAME: usize = 24;

/// The quantity in the cells of a heatmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// After the softmax: from 0 to 1; each row sums to 1.
    Weights,
    /// Before the softmax.
    Scores,
}

/// One attention matrix, query by key, with its labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Heatmap {
    /// One line: the quantity, the sample, the head, the step.
    pub title: String,
    /// Whether cells are scores or weights.
    pub quantity: Quantity,
    /// The name of each position's token.
    pub tokens: Vec<String>,
    /// Positions that the label depends on.
    pub marked: Vec<usize>,
    /// Row-major. `[query, key]`
    pub cells: Vec<f32>,
}

impl Heatmap {
    /// The matrix of one head for one sample of a dump.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn of(
        dump: &AttentionDump,
        sample: usize,
        layer: usize,
        head: usize,
        quantity: Quantity,
    ) -> Self {
        let cells = match quantity {
            Quantity::Weights => dump.weights(sample, layer, head),
            Quantity::Scores => dump.scores(sample, layer, head),
        };
        let tokens = dump
            .tokens(sample)
            .iter()
            .map(|&token| dump.token_string(token))
            .collect();
        Self {
            title: title(dump, sample, layer, head, quantity),
            quantity,
            tokens,
            marked: dump.meta.label_positions[sample].clone(),
            cells: cells.to_vec(),
        }
    }

    /// The first and the last value of the colour scale: 0 and 1 for weights, so that pictures can be
    /// compared; the extremes for scores.
    pub fn range(&self) -> (f32, f32) {
        match self.quantity {
            Quantity::Weights => (0.0, 1.0),
            Quantity::Scores => {
                let min = self.cells.iter().copied().fold(f32::INFINITY, f32::min);
                let max = self.cells.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                (min, max)
            }
        }
    }

    /// A function from a value to its place in the colour scale, from 0 to 1.
    pub(super) fn scale(&self) -> impl Fn(f32) -> f32 {
        let (min, max) = self.range();
        move |value| {
            if max > min {
                (value - min) / (max - min)
            } else {
                0.5
            }
        }
    }

    /// A position's number, with `*` if the label depends on it.
    pub(super) fn place(&self, position: usize) -> String {
        let star = if self.marked.contains(&position) {
            "*"
        } else {
            ""
        };
        format!("{position}{star}")
    }

    /// A position's number and its token.
    pub(super) fn name(&self, position: usize) -> String {
        let token = shorten(&self.tokens[position], MOST_NAME);
        format!("{} {token}", self.place(position))
    }

    /// The sentence that explains rows, columns and `*`.
    pub(super) fn legend(&self) -> String {
        let star = if self.marked.is_empty() {
            ""
        } else {
            "; * decides the label"
        };
        format!("rows: query (from), columns: key (to){star}")
    }
}

fn title(
    dump: &AttentionDump,
    sample: usize,
    layer: usize,
    head: usize,
    quantity: Quantity,
) -> String {
    let mut parts = vec![match quantity {
        Quantity::Weights => "attention weights".to_owned(),
        Quantity::Scores => "attention scores".to_owned(),
    }];
    parts.push(match dump.meta.samples[sample] {
        Some(number) => format!("sample {number}"),
        None => format!("row {sample}"),
    });
    if dump.dims.layers > 1 {
        parts.push(format!("layer {layer}"));
    }
    parts.push(format!("head {head}"));
    if !dump.labels[sample].is_nan() {
        parts.push(format!("label {}", dump.labels[sample]));
    }
    parts.push(match dump.probabilities(sample) {
        [probability] => format!("probability {probability:.4}"),
        several => {
            let several: Vec<String> = several.iter().map(|p| format!("{p:.4}")).collect();
            format!("probabilities {}", several.join(" "))
        }
    });
    parts.extend(dump.meta.step.map(|step| format!("step {step}")));
    parts.join(" · ")
}
