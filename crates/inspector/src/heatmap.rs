//! One attention matrix with all that is needed to read it.

use headlight_dump::AttentionDump;

/// What a heatmap shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// After the softmax: from 0 to 1, each row summing to 1.
    Weights,
    /// Before the softmax.
    Scores,
}

/// One attention matrix, query by key, with its labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Heatmap {
    /// What is shown, of what, in one line.
    pub title: String,
    /// Whether cells are scores or weights.
    pub quantity: Quantity,
    /// What each position's token is shown as.
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
    /// When an index is out of range.
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

    /// The values that the colour scale starts and ends at: 0 and 1 for weights, so that pictures
    /// can be compared, and the extremes for scores.
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
}

/// Where a value stands in a range, from 0 to 1.
pub(crate) fn share((min, max): (f32, f32), value: f32) -> f32 {
    if max > min {
        (value - min) / (max - min)
    } else {
        0.5
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
    parts.push(format!("probability {:.4}", dump.probabilities[sample]));
    parts.extend(dump.meta.step.map(|step| format!("step {step}")));
    parts.join(" · ")
}
