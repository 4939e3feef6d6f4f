//! A model as the passes compute it: its config and its inputs, and the tables that follow from them.

use std::ops::Range;

use headlight_architecture::{
    AttentionConfig, Inputs, InvalidValue, ModelConfig, Readout, Scale, Weighting,
};

use crate::arrays::Dims;

/// A model's config with its inputs, which go together, and the tables that follow from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Architecture {
    pub(crate) model: ModelConfig,
    pub(crate) inputs: Inputs,
    /// What the classifier reads.
    pub(crate) readout: Readout,
    /// Which keys each query may look at; `None` if all. `[query, key]`
    pub(crate) mask: Option<Vec<bool>>,
    /// The fixed vectors that are added to those of tokens. `[position, d_model]`
    pub(crate) position_table: Option<Vec<f32>>,
    /// The cosines and the sines that queries and keys are rotated by. `[position, d_head / 2]` each
    pub(crate) rotation: Option<[Vec<f32>; 2]>,
}

impl Architecture {
    /// That of a model with such inputs.
    ///
    /// # Errors
    /// When values of the config do not go together, or do not suit the inputs.
    ///
    /// # Panics
    /// When the inputs have no token or no position, fewer than two classes, or do not have the readout position.
    pub fn new(model: &ModelConfig, inputs: Inputs) -> Result<Self, InvalidValue> {
        let is_read = inputs.read_position < inputs.positions;
        assert!(
            inputs.vocab_size > 0 && inputs.n_classes > 1 && is_read,
            "no model has {inputs:?}"
        );
        model.validate()?;
        model.validate_for(inputs)?;
        let (p, mask) = (inputs.positions, &model.attention.mask);
        Ok(Self {
            readout: model.readout(inputs),
            mask: mask
                .matrix(p, p)
                .map_err(|message| InvalidValue::new("attention.mask", message))?,
            position_table: model.positions.table(p, model.d_model),
            rotation: model.positions.rotation(p, model.d_head()),
            model: model.clone(),
            inputs,
        })
    }

    /// Number of trainable parameters.
    pub fn parameter_count(&self) -> usize {
        self.model.parameter_count(self.inputs)
    }

    /// Columns of all heads together.
    pub(crate) fn heads_width(&self) -> usize {
        self.model.n_heads * self.model.d_head()
    }

    /// Logits per answer.
    pub fn n_logits(&self) -> usize {
        self.model.n_logits(self.inputs.n_classes)
    }

    /// The extents of the arrays of some samples.
    pub fn dims(&self, samples: usize) -> Dims {
        Dims {
            samples,
            layers: self.model.n_layers,
            heads: self.model.n_heads,
            positions: self.inputs.positions,
            d_head: self.model.d_head(),
            d_model: self.model.d_model,
            d_ff: self.model.d_ff,
            logits: self.n_logits(),
            per_position: self.inputs.per_position,
        }
    }

    /// Answers per sample: one, or one per position.
    pub fn answers(&self) -> usize {
        self.dims(0).answers()
    }

    /// The rows of the last layer that the classifier reads, of so many positions.
    pub(crate) fn last_rows(&self, positions: usize) -> Range<usize> {
        let read = self.inputs.read_position;
        match self.readout {
            Readout::Position => read..read + 1,
            Readout::Mean | Readout::Every => 0..positions,
        }
    }

    /// The factor of the products of queries and keys.
    pub(crate) fn scale(&self) -> f32 {
        let (attention, d_head) = (&self.model.attention, self.model.d_head());
        if (attention.scale, attention.temperature) == (Scale::Root, 1.0) {
            // Rounded from float32, as in Keras.
            1.0 / (d_head as f32).sqrt()
        } else {
            attention.factor(d_head) as f32
        }
    }

    /// Whether some queries may not look at some keys.
    pub(crate) fn is_masked(&self) -> bool {
        self.mask.is_some() || self.model.attention.padding_token.is_some()
    }

    /// Whether the notebook's engine computes it: the notebook's model, of which only vocabulary, length, scale, temperature,
    /// initial weights, the epsilon of its norm, and the width, 8 or 16, may differ.
    pub(crate) fn is_notebook(&self) -> bool {
        let (model, inputs) = (&self.model, self.inputs);
        let plain = ModelConfig {
            norm_bias: model.norm_bias,
            final_norm: model.final_norm,
            layer_norm_eps: model.layer_norm_eps,
            pooling: model.pooling,
            attention: AttentionConfig {
                scale: model.attention.scale,
                temperature: model.attention.temperature,
                ..AttentionConfig::default()
            },
            init: model.init,
            ..ModelConfig::new(model.d_model, 1, 1)
        };
        *model == plain
            && model.has_norm_bias()
            && !model.has_final_norm()
            && self.readout == Readout::Position
            && (inputs.cls, inputs.read_position) == (Some(0), 0)
            && inputs.n_classes == 2
            && matches!(model.d_model, 8 | 16)
    }

    /// Whether the row that the classifier reads can be computed without keys and values (see `layers/read_row.rs`).
    pub(crate) fn folds_keys(&self) -> bool {
        let attention = &self.model.attention;
        attention.weighting() == Weighting::Softmax
            && !attention.log_length
            && self.rotation.is_none()
            && self.readout == Readout::Position
    }
}
