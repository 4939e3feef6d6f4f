//! The largest models.

use headlight_schema::{InvalidValue, require};

use super::ExperimentConfig;

/// The most parameters of a model. They take 1 GiB, and each of Adam's two moments takes another.
const PARAMETER_LIMIT: u128 = 1 << 28;

/// The most attention weights per layer in one forward pass without gradients.
pub(crate) const ATTENTION_LIMIT: usize = 1 << 24;

impl ExperimentConfig {
    /// Refuses models that are too large.
    ///
    /// # Errors
    /// Names the keys to lower.
    pub fn check_size(&self) -> Result<(), InvalidValue> {
        let (data, model) = (&self.data, &self.model);
        let (d_model, n_layers) = (model.d_model as u128, model.n_layers as u128);
        let rows = u128::from(data.vocab_size) + data.seq_len as u128 + 1;
        let heads = model.n_heads as u128 * model.d_head() as u128;
        let block = d_model * (4 * heads + 2 * model.d_ff as u128);
        let hidden = model.classifier_hidden as u128 * (d_model + data.n_classes as u128);
        let parameters = rows * d_model + n_layers * block + hidden;
        let weights = self.attention_weights();
        require(weights <= ATTENTION_LIMIT, "data.seq_len", || {
            format!(
                "the attention of one sample would have {weights} attention weights per layer, more than \
                 {ATTENTION_LIMIT}; lower data.seq_len or model.n_heads"
            )
        })?;
        require(parameters <= PARAMETER_LIMIT, "model", || {
            format!(
                "the model would have about {parameters} parameters, more than {PARAMETER_LIMIT}; \
                 lower data.vocab_size, model.d_model, model.d_head, model.d_ff, model.classifier_hidden or model.n_layers"
            )
        })
    }

    /// Attention weights of a sample per layer.
    pub(crate) fn attention_weights(&self) -> usize {
        let positions = self.data.seq_len.saturating_add(1);
        let pairs = positions.saturating_mul(positions);
        pairs.saturating_mul(self.model.n_heads)
    }
}
