//! An attention dump: what a model computed for some samples at one moment of its training.
//!
//! `numpy.load` reads the npz format with nothing else installed. JSON has the same arrays. CSV has the
//! scores and weights, one row per pair of positions. The axes of attention are always
//! `[sample, layer, head, query, key]`. This crate does not depend on Burn.

mod arrays;
mod check;
mod csv;
mod json;
mod npz;
mod select;

use headlight_architecture::{Keys, ReadoutAttention, StrongestHead, strongest_head};
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use arrays::{AttentionDump, axes, size};
pub use headlight_fused::{Array, Arrays, Dims};

/// The version of the format; readers reject other versions.
pub const VERSION: u32 = 1;

/// The origin of a dump: the string `meta` in the npz, as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// [`VERSION`] of the format.
    pub version: u32,
    /// The axes of each array, by name.
    pub axes: BTreeMap<String, Vec<String>>,
    /// Training steps taken so far; `null` if unknown.
    pub step: Option<usize>,
    /// Epochs finished so far; `null` if unknown.
    pub epoch: Option<usize>,
    /// Seed of the weights and of the batch order; `null` if unknown.
    pub seed: Option<u64>,
    /// Index of each sample in the training set; `null` if the sample is not from that set.
    pub samples: Vec<Option<usize>>,
    /// The text shown for each token id that occurs.
    pub token_strings: BTreeMap<u32, String>,
    /// For each sample, the positions that its label depends on.
    pub label_positions: Vec<Vec<usize>>,
    /// The readout position, if it is not that of `[CLS]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_position: Option<usize>,
    /// The experiment's resolved config.
    pub config: serde_json::Value,
}

impl AttentionDump {
    /// The attention weights of one head for one sample. `[query, key]`
    pub fn weights(&self, sample: usize, layer: usize, head: usize) -> &[f32] {
        &self.arrays[Array::Weights][self.matrix(sample, layer, head)]
    }

    /// The attention scores of one head for one sample. `[query, key]`
    pub fn scores(&self, sample: usize, layer: usize, head: usize) -> &[f32] {
        &self.arrays[Array::Scores][self.matrix(sample, layer, head)]
    }

    /// The token ids of a sample.
    pub fn tokens(&self, sample: usize) -> &[i64] {
        let positions = self.dims.positions;
        &self.tokens[sample * positions..(sample + 1) * positions]
    }

    /// The keys that a query of a sample may look at.
    pub fn keys(&self, sample: usize, query: usize) -> Keys {
        let mask = self.mask(sample, query);
        let keys = 0..self.dims.positions;
        let keys: Keys = keys
            .filter(|&key| mask.is_none_or(|mask| mask[key]))
            .collect();
        keys.with_attention_rate(self.rate())
    }

    /// The attention rate; `None` if weights are no softmax.
    fn rate(&self) -> Option<f64> {
        let setting = |key: &str| self.meta.config.pointer(&format!("/model/attention/{key}"));
        let is_softmax = setting("softmax").is_none_or(|softmax| softmax != false);
        let rate = setting("rate").and_then(serde_json::Value::as_f64);
        is_softmax.then_some(rate.unwrap_or(1.0))
    }

    /// The positions of a sample that hold no padding, and the one that the class is read from; all, if there are none.
    pub fn unpadded(&self, sample: usize) -> Vec<usize> {
        let padding = self.meta.config.pointer("/model/attention/padding_token");
        let padding = padding.and_then(serde_json::Value::as_i64);
        let tokens = self.tokens(sample);
        let reads_all = self.reads_mean() || self.dims.per_position;
        let read = (!reads_all).then(|| self.read_position());
        let holds = |&position: &usize| Some(tokens[position]) != padding || Some(position) == read;
        let all = 0..tokens.len();
        let held: Vec<usize> = all.clone().filter(holds).collect();
        if held.is_empty() { all.collect() } else { held }
    }

    /// The mask of a query, if the model has one. `[key]`
    fn mask(&self, sample: usize, query: usize) -> Option<&[bool]> {
        let positions = self.dims.positions;
        let mask = self.attention_mask.as_ref()?;
        Some(&mask[(sample * positions + query) * positions..][..positions])
    }

    /// The last layer, and its [strongest head](strongest_head): where to look first.
    pub fn strongest(&self) -> (usize, StrongestHead) {
        let layer = self.dims.layers.saturating_sub(1);
        (layer, self.strongest_head(layer))
    }

    /// The [strongest head](strongest_head) of a layer; the first in a dump without attention.
    pub fn strongest_head(&self, layer: usize) -> StrongestHead {
        let positions = self.dims.positions;
        if self.arrays[Array::Weights].is_empty() {
            return StrongestHead::FIRST;
        }
        let looks: Vec<ReadoutAttention<'_>> = (0..self.dims.samples)
            .map(|sample| (sample, self.readout_position(sample)))
            .map(|(sample, read)| ReadoutAttention {
                weights: (0..self.dims.heads)
                    .map(|head| &self.weights(sample, layer, head)[read * positions..][..positions])
                    .collect(),
                keys: self.keys(sample, read),
                label: Some(self.label(sample))
                    .filter(|label| !label.is_nan())
                    .map(|label| label as u32),
                deciding: &self.meta.label_positions[sample],
            })
            .collect();
        strongest_head(&looks).unwrap_or(StrongestHead::FIRST)
    }

    /// The readout position: that of the meta data or else that of `[CLS]`, which is token 0 in the first
    /// sample; 0 without such a token.
    pub fn read_position(&self) -> usize {
        if let Some(position) = self.meta.read_position {
            return position;
        }
        let positions = self.dims.positions.min(self.tokens.len());
        let first = &self.tokens[..positions];
        first.iter().position(|&token| token == 0).unwrap_or(0)
    }

    /// The position of `[CLS]`, if samples have it.
    pub fn cls(&self) -> Option<usize> {
        if self.meta.read_position.is_none() {
            return Some(self.read_position());
        }
        let cls = self.meta.config.pointer("/data/cls");
        match cls.and_then(serde_json::Value::as_str) {
            Some("none") => None,
            Some("last") => self.dims.positions.checked_sub(1),
            _ => Some(0),
        }
    }

    /// Whether the class is read from the mean of all positions that are not padding.
    pub fn reads_mean(&self) -> bool {
        let pooling = self.meta.config.pointer("/model/pooling");
        pooling.is_some_and(|pooling| pooling == "mean")
    }

    /// The position of a sample whose attention is shown: the [`read_position`](Self::read_position). If the model reads all
    /// positions, and that one holds padding, it is the last one that does not.
    pub fn readout_position(&self, sample: usize) -> usize {
        let read = self.read_position();
        let held = self.unpadded(sample);
        if held.contains(&read) {
            return read;
        }
        held.last().copied().unwrap_or(read)
    }

    /// The [`readout_position`](Self::readout_position), as messages name it: `[CLS]`, or its number.
    pub fn readout_name(&self, sample: usize) -> String {
        match self.meta.read_position {
            None => "[CLS]".to_owned(),
            Some(_) => format!("position {}", self.readout_position(sample)),
        }
    }

    /// That the class is read from the mean of all positions, if it is; after the name of the position that is shown.
    pub fn mean_note(&self) -> &'static str {
        if self.reads_mean() {
            " (the class is read from the mean of all positions)"
        } else {
            ""
        }
    }

    /// The text shown for a token id: from the meta data, else the number.
    pub fn token_string(&self, token: i64) -> String {
        let id = u32::try_from(token).ok();
        let Some(text) = id.and_then(|id| self.meta.token_strings.get(&id)) else {
            return token.to_string();
        };
        // A dump is untrusted input: its text must not control a terminal.
        let visible = |c: char| if c.is_control() { '\u{FFFD}' } else { c };
        text.chars().map(visible).collect()
    }

    /// The label of a sample; with a label per position, that of the position that is shown. NaN if there is none.
    pub fn label(&self, sample: usize) -> f32 {
        self.labels[self.answer(sample)]
    }

    /// The place of a sample's answer among all; with an answer per position, that of the position that is shown.
    pub(crate) fn answer(&self, sample: usize) -> usize {
        if self.dims.per_position {
            sample * self.dims.positions + self.readout_position(sample)
        } else {
            sample
        }
    }

    /// The probabilities of a sample: of class 1, or of each class if there is a logit for each; with an answer per position,
    /// those of the position that is shown. `[logit]`
    pub fn probabilities(&self, sample: usize) -> &[f32] {
        let (logits, answer) = (self.dims.logits, self.answer(sample));
        &self.probabilities[answer * logits..(answer + 1) * logits]
    }

    fn matrix(&self, sample: usize, layer: usize, head: usize) -> std::ops::Range<usize> {
        let dims = self.dims;
        assert!(sample < dims.samples && layer < dims.layers && head < dims.heads);
        let size = dims.positions * dims.positions;
        let start = ((sample * dims.layers + layer) * dims.heads + head) * size;
        start..start + size
    }
}
