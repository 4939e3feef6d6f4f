//! The attention of one sample, of one head or of several, with its labels.

use headlight_architecture::{Keys, is_uniform};
use headlight_dump::AttentionDump;

use super::colour_range::{ColourRange, ColourScale};
use crate::words::{counted, shorten, width};

/// The longest name of a token, in columns of a terminal.
const MAX_NAME_COLUMNS: usize = 24;

/// What the axes of a matrix are.
pub(super) const AXES: &str = "rows: query (from), columns: key (to)";

/// The quantity in the cells of a heatmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// After the softmax: from 0 to 1.
    Weights,
    /// Before the softmax.
    Scores,
}

/// The attention matrices of some heads for one sample, with their labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Heatmap {
    /// The quantity, the sample, the heads, the step.
    pub title: Vec<String>,
    /// Whether cells are scores or weights.
    pub quantity: Quantity,
    /// The range of the colours.
    pub range: ColourRange,
    /// The position of each token. Padding is left out; all that follows counts the tokens that are left.
    pub positions: Vec<usize>,
    /// The name of each token.
    pub tokens: Vec<String>,
    /// Tokens that the label depends on.
    pub marked: Vec<usize>,
    /// The index of the readout position.
    pub read: usize,
    /// The keys that each query may look at. `[query]`
    pub keys: Vec<Keys>,
    /// The numbers of the layers.
    pub layers: Vec<usize>,
    /// The numbers of the heads, the same in each layer.
    pub heads: Vec<usize>,
    /// Row-major. `[layer, head, query, key]`
    pub cells: Vec<f32>,
}

impl Heatmap {
    /// The matrices of these layers and heads for one sample of a dump, without padding. The range is
    /// [`ColourRange::Uniform`] for weights of a softmax, and else [`ColourRange::Data`].
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn of(
        dump: &AttentionDump,
        sample: usize,
        layers: &[usize],
        heads: &[usize],
        quantity: Quantity,
    ) -> Self {
        let matrices = layers
            .iter()
            .flat_map(|&layer| heads.iter().map(move |&head| (layer, head)));
        let positions = dump.unpadded(sample);
        let mut cells = Vec::with_capacity(layers.len() * heads.len() * positions.len().pow(2));
        for (layer, head) in matrices {
            let matrix = match quantity {
                Quantity::Weights => dump.weights(sample, layer, head),
                Quantity::Scores => dump.scores(sample, layer, head),
            };
            let row = |&query: &usize| &matrix[query * dump.dims.positions..];
            let rows = positions.iter().map(row);
            cells.extend(rows.flat_map(|row| positions.iter().map(|&key| row[key])));
        }
        let kept = |position: &usize| positions.binary_search(position).ok();
        let keys = |&query: &usize| dump.keys(sample, query).restricted_to(&positions);
        let keys: Vec<Keys> = positions.iter().map(keys).collect();
        let tokens = dump.tokens(sample);
        Self {
            title: title(dump, sample, layers, heads, quantity),
            quantity,
            range: match quantity {
                Quantity::Weights if keys.iter().all(Keys::has_uniform) => ColourRange::Uniform,
                Quantity::Weights | Quantity::Scores => ColourRange::Data,
            },
            tokens: positions
                .iter()
                .map(|&position| dump.token_string(tokens[position]))
                .collect(),
            marked: dump.meta.label_positions[sample]
                .iter()
                .filter_map(kept)
                .collect(),
            read: kept(&dump.readout_position(sample)).unwrap_or(0),
            keys,
            layers: layers.to_vec(),
            heads: heads.to_vec(),
            cells,
            positions,
        }
    }

    /// The number of matrices.
    pub fn matrices(&self) -> usize {
        self.layers.len() * self.heads.len()
    }

    /// A matrix, counted by layer, then by head. `[query, key]`
    pub(super) fn matrix(&self, index: usize) -> &[f32] {
        let size = self.tokens.len() * self.tokens.len();
        &self.cells[index * size..][..size]
    }

    /// A sentence that the weights are close to uniform attention, if they are those of one head: of all its queries, or of
    /// one.
    pub fn uniform(&self, query: Option<usize>) -> Option<&'static str> {
        let count = self.tokens.len().max(1);
        let rows = self.keys.iter().zip(self.cells.chunks(count)).enumerate();
        let rows = rows.filter(|(row, _)| query.is_none_or(|query| *row == query));
        let is_close = self.matrices() == 1
            && self.quantity == Quantity::Weights
            && is_uniform(rows.map(|(_, row)| row));
        is_close.then_some("These weights are close to uniform attention.")
    }

    /// Whether a query may look at a key.
    pub(super) fn is_allowed(&self, query: usize, key: usize) -> bool {
        self.keys[query].contains(key)
    }

    /// The axes, and what stands in the cells of keys that a query may not look at, if there are any.
    pub(super) fn axes(&self) -> String {
        let count = self.tokens.len();
        let masked = self.keys.iter().any(|keys| keys.count() < count);
        let masked = if masked { "; hatched: masked" } else { "" };
        format!("{AXES}{}{masked}", self.star())
    }

    /// The places of values in the scale of colours.
    pub(super) fn scale(&self) -> ColourScale<'_> {
        ColourScale::new(self.range, &self.keys, &self.cells)
    }

    /// The position of a token, with `*` if the label depends on it.
    pub(super) fn position(&self, token: usize) -> String {
        let star = if self.marked.contains(&token) {
            "*"
        } else {
            ""
        };
        format!("{}{star}", self.positions[token])
    }

    /// A token with its position.
    pub(super) fn name(&self, token: usize) -> String {
        let text = shorten(&self.tokens[token], MAX_NAME_COLUMNS);
        format!("{} {text}", self.position(token))
    }

    /// All tokens with their positions.
    pub(super) fn names(&self) -> Vec<String> {
        let tokens = 0..self.tokens.len();
        tokens.map(|token| self.name(token)).collect()
    }

    /// What `*` means, after a sentence; empty if no position has it.
    pub(super) fn star(&self) -> &'static str {
        if self.marked.is_empty() {
            ""
        } else {
            "; *: a position that decides the label"
        }
    }

    /// The title in lines of at most `columns`, broken between its parts.
    pub(super) fn title_lines(&self, columns: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for part in &self.title {
            match lines.last_mut() {
                Some(line) if width(line) + width(part) + 3 <= columns => {
                    line.extend([" · ", part]);
                }
                _ => lines.push(part.clone()),
            }
        }
        lines
    }
}

fn title(
    dump: &AttentionDump,
    sample: usize,
    layers: &[usize],
    heads: &[usize],
    quantity: Quantity,
) -> Vec<String> {
    let mut parts = vec![match quantity {
        Quantity::Weights => "attention weights".to_owned(),
        Quantity::Scores => "attention scores".to_owned(),
    }];
    parts.push(match dump.meta.samples[sample] {
        Some(number) => format!("sample {number}"),
        None => format!("row {sample}"),
    });
    match layers {
        [_] if dump.dims.layers == 1 => {}
        [layer] => parts.push(format!("layer {layer}")),
        _ => parts.push(counted(layers.len(), "layer")),
    }
    parts.push(match heads {
        [head] => format!("head {head}"),
        _ => counted(heads.len(), "head"),
    });
    parts.extend(answers(dump, sample));
    parts.extend(dump.meta.step.map(|step| format!("step {step}")));
    parts
}

/// What the model answers for a sample; if it answers at each position, at how many of those that count it is right.
fn answers(dump: &AttentionDump, sample: usize) -> Vec<String> {
    let dims = dump.dims;
    if dims.per_position {
        let first = sample * dims.positions;
        let labels = &dump.labels[first..first + dims.positions];
        let logits = dump.logits[first * dims.logits..].chunks(dims.logits);
        let known = labels.iter().zip(logits);
        let known = known.filter(|(label, _)| !label.is_nan());
        let predicted = |logits: &[f32]| match logits {
            [one] => usize::from(*one > 0.0),
            several => largest(several)[0],
        };
        let is_right = known.map(|(label, logits)| *label as usize == predicted(logits));
        let is_right: Vec<bool> = is_right.collect();
        let right = is_right.iter().filter(|is_right| **is_right).count();
        return match is_right.len() {
            0 => Vec::new(),
            all => vec![format!("{right} of {} right", counted(all, "position"))],
        };
    }
    let mut parts = Vec::new();
    let label = dump.label(sample);
    if !label.is_nan() {
        let name = class_name(dump, label).unwrap_or_else(|| label.to_string());
        parts.push(format!("label {name}"));
    }
    parts.push(match dump.probabilities(sample) {
        [probability] => {
            let of = class_name(dump, 1.0).unwrap_or_else(|| "label 1".to_owned());
            format!("P({of}) = {probability:.4}")
        }
        several => {
            let class = largest(several)[0];
            let probability = several[class];
            let name = class_name(dump, class as f32).unwrap_or_else(|| format!("class {class}"));
            format!("predicted {name}, P = {probability:.4}")
        }
    });
    parts
}

/// A class by its name in the dump's config, or `yes` or `no` where a rule asks.
fn class_name(dump: &AttentionDump, label: f32) -> Option<String> {
    let config = &dump.meta.config;
    let name = config.pointer(&format!("/data/classes/{label}"));
    if let Some(name) = name.and_then(serde_json::Value::as_str) {
        // A dump is untrusted input: its text must not control a terminal.
        return Some(name.replace(char::is_control, "\u{fffd}"));
    }
    let asks = config.pointer("/data/rule")?.is_object() && dump.logits.len() == dump.dims.samples;
    asks.then(|| if label == 0.0 { "no" } else { "yes" }.to_owned())
}

/// The places of the values of a row, by falling value; of equals, the first first.
pub fn largest(cells: &[f32]) -> Vec<usize> {
    let mut keys: Vec<usize> = (0..cells.len()).collect();
    keys.sort_by(|&a, &b| cells[b].total_cmp(&cells[a]));
    keys
}
