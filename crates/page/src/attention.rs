//! Attention from anywhere: weights over tokens, without the model that computed them.

use headlight_dump::{Array, AttentionDump, Dims};

use crate::{Page, PageRun, PageTraining};

/// The most weights of a page.
const MAX_WEIGHTS: usize = 20_000_000;

/// The largest score of a page. A score so far below another gives weight 0.
const LARGEST: f32 = 1e4;

/// Attention weights, and what is known beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtherAttention {
    /// The title of the page.
    pub title: String,
    /// Layers of the model.
    pub layers: usize,
    /// Heads of each layer.
    pub heads: usize,
    /// What stands at each position. `[sample][position]`
    pub tokens: Vec<Vec<String>>,
    /// After the softmax. `[sample, layer, head, query, key]`
    pub weights: Vec<f32>,
    /// Before the softmax; negative infinity where the mask allows no look. `[sample, layer, head, query, key]`
    pub scores: Option<Vec<f32>>,
    /// Whether a query may look at a key. `[sample, query, key]`
    pub mask: Vec<bool>,
}

impl Page {
    /// The page of attention from anywhere.
    ///
    /// # Errors
    /// When samples have different lengths, or a weight is not a share: what is wrong, in a sentence.
    ///
    /// # Panics
    /// When weights or mask have another length than the extents say.
    pub fn of_attention(attention: OtherAttention) -> Result<Self, String> {
        attention.check()?;
        let title = attention.title.clone();
        let (has_scores, dump) = (attention.scores.is_some(), attention.dump());
        let reason = "The page has attention alone, and no model".to_owned();
        let mut run = PageRun::new(
            title.clone(),
            &dump,
            1,
            None,
            1,
            PageTraining::Recorded(reason),
        );
        run.add(&dump)?;
        run.has_scores = has_scores;
        let mut page = Self {
            attention: Some(title),
            ..Self::default()
        };
        page.add(run)?;
        Ok(page)
    }
}

impl OtherAttention {
    fn positions(&self) -> usize {
        self.tokens.first().map_or(0, Vec::len)
    }

    fn check(&self) -> Result<(), String> {
        let (samples, positions) = (self.tokens.len(), self.positions());
        if let Some(other) = self.tokens.iter().find(|sample| sample.len() != positions) {
            return Err(format!(
                "all samples need the same number of tokens; one has {positions}, another {}",
                other.len()
            ));
        }
        let size = [samples, self.layers, self.heads, positions, positions];
        let count = size.iter().product::<usize>();
        if count == 0 {
            return Err(format!(
                "there is no attention: the extents [sample, layer, head, query, key] are {size:?}"
            ));
        }
        if count > MAX_WEIGHTS {
            return Err(format!(
                "{count} weights are too many for a page, which has room for {MAX_WEIGHTS}; show fewer samples, layers or heads"
            ));
        }
        let is_share = |weight: &&f32| !(0.0..=1.0 + 1e-3).contains(*weight);
        if let Some(weight) = self.weights.iter().find(is_share) {
            return Err(format!(
                "a weight is {weight}; attention weights are shares from 0 to 1, after the softmax"
            ));
        }
        if let Some(scores) = &self.scores {
            let is_score = |score: &&f32| score.is_nan() || **score == f32::INFINITY;
            if let Some(score) = scores.iter().find(is_score) {
                return Err(format!(
                    "a score is {score}; it must be a number or minus infinity"
                ));
            }
        }
        let cells = positions * positions;
        let lengths = [self.weights.len(), self.mask.len()];
        assert_eq!(lengths, [count, samples * cells], "extents {size:?}");
        let mask_index = |index: usize| index / (count / samples) * cells + index % cells;
        let masked = self
            .weights
            .iter()
            .enumerate()
            .find(|&(index, &weight)| weight > 0.0 && !self.mask[mask_index(index)]);
        if let Some((index, weight)) = masked {
            let (query, key) = (index % cells / positions, index % positions);
            return Err(format!(
                "query {query} gives key {key} the weight {weight}, and may not look there; a mask is true where a query may look"
            ));
        }
        Ok(())
    }

    /// As a dump without results and vectors.
    fn dump(self) -> AttentionDump {
        let (samples, positions) = (self.tokens.len(), self.positions());
        let mut dump = AttentionDump {
            dims: Dims {
                samples,
                layers: self.layers,
                heads: self.heads,
                positions,
                ..Dims::default()
            },
            labels: vec![f32::NAN; samples],
            ..AttentionDump::default()
        };
        dump.meta.samples = vec![None; samples];
        dump.meta.label_positions = vec![Vec::new(); samples];
        // Token 0 would be [CLS].
        let texts = self.tokens.into_iter().flatten();
        for (id, text) in (1..).zip(texts) {
            dump.tokens.push(i64::from(id));
            dump.meta.token_strings.insert(id, text);
        }
        let cells = positions * positions;
        let per_sample = self.layers * self.heads * cells;
        let mask_index = |index: usize| index / per_sample * cells + index % cells;
        let mask = self.mask;
        // Without scores all are the same: the page keeps how the weights differ from even ones.
        let scores = self.scores.unwrap_or_else(|| vec![0.0; self.weights.len()]);
        let known = scores.into_iter().enumerate();
        let known = known.map(|(index, score)| if mask[mask_index(index)] { score } else { 0.0 });
        let known = known.map(|score| score.clamp(-LARGEST, LARGEST));
        dump.arrays[Array::Scores] = known.collect();
        if mask.contains(&false) {
            // Under a causal mask, the first query sees itself alone.
            dump.meta.read_position = Some(positions - 1);
            dump.attention_mask = Some(mask);
        }
        dump.arrays[Array::Weights] = self.weights;
        dump
    }
}
