//! The config of training: epochs, batches, Adam, and which model to keep.

use headlight_data::InvalidValue;
use headlight_fused::Adam;
use serde::{Deserialize, Serialize};

use crate::metrics::Measure;

/// The `[training]` section: epochs, batches, and Adam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingConfig {
    /// Passes over the training samples, which are shuffled again for each.
    pub epochs: usize,
    /// Samples per step.
    #[serde(default = "TrainingConfig::default_batch_size")]
    pub batch_size: usize,
    /// Adam's step size.
    #[serde(default = "TrainingConfig::default_learning_rate")]
    pub learning_rate: f64,
    /// Decay of Adam's mean of gradients.
    #[serde(default = "TrainingConfig::default_beta_1")]
    pub beta_1: f64,
    /// Decay of Adam's mean of squared gradients.
    #[serde(default = "TrainingConfig::default_beta_2")]
    pub beta_2: f64,
    /// Added to the root of Adam's mean of squared gradients.
    #[serde(default = "TrainingConfig::default_epsilon")]
    pub epsilon: f64,
    /// How a token that occurs several times in a batch enters Adam's mean of squares.
    #[serde(default)]
    pub token_second_moment: TokenSecondMoment,
    /// The share of tokens that each step leaves out at random; `[CLS]` stays, and evaluations leave out none. Needs
    /// `model.attention.padding_token`, which takes their place.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub token_dropout: f64,
    /// Steps between evaluations within an epoch; 0 evaluates only at the end of each epoch.
    #[serde(default)]
    pub evaluate_every: usize,
    /// The measure by which the best model is chosen and kept, beside the last one. If unset, only the last
    /// model is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_best: Option<Measure>,
    /// Training stops after this many evaluations in a row without a better `keep_best`; 0 disables this.
    #[serde(default)]
    pub patience: usize,
}

/// Whether no token is left out. Then the config is written as before there was such a key.
#[allow(clippy::trivially_copy_pass_by_ref)] // Serde passes it so.
fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

/// How a token that occurs several times in a batch enters Adam's mean of squared gradients.
///
/// `[CLS]` occurs in every sample. Therefore the step size of its embedding differs between the two by a
/// factor of up to the root of the batch size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenSecondMoment {
    /// The gradient of each occurrence is squared, and the squares are summed. Keras 3 does this on
    /// TensorFlow, where an embedding's gradient is a list of rows that is not summed before
    /// `Adam.update_step` squares it. The notebook's numbers come from there.
    #[default]
    PerOccurrence,
    /// Gradients are summed, and the sum is squared: Adam as published, as in PyTorch and JAX.
    PerToken,
}

/// The defaults: those of [`Adam`], and the notebook's batch size.
impl TrainingConfig {
    fn default_batch_size() -> usize {
        16
    }
    fn default_learning_rate() -> f64 {
        Adam::default().learning_rate
    }
    fn default_beta_1() -> f64 {
        Adam::default().beta_1
    }
    fn default_beta_2() -> f64 {
        Adam::default().beta_2
    }
    fn default_epsilon() -> f64 {
        Adam::default().epsilon
    }
}

impl TrainingConfig {
    /// Adam's settings for the fused engine.
    pub fn adam(&self) -> Adam {
        Adam {
            learning_rate: self.learning_rate,
            beta_1: self.beta_1,
            beta_2: self.beta_2,
            epsilon: self.epsilon,
            per_occurrence: self.token_second_moment == TokenSecondMoment::PerOccurrence,
        }
    }

    /// Checks every value.
    ///
    /// # Errors
    /// Names the first invalid value, with its key within `[training]`.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        for (key, count) in [("epochs", self.epochs), ("batch_size", self.batch_size)] {
            if count == 0 {
                return Err(InvalidValue::new(
                    key,
                    format!("{key} is 0; training needs at least 1"),
                ));
            }
        }
        for (key, size) in [
            ("learning_rate", self.learning_rate),
            ("epsilon", self.epsilon),
        ] {
            // Engines compute in float32.
            if !(size.is_finite() && size as f32 > 0.0) {
                return Err(InvalidValue::new(
                    key,
                    format!("{key} is {size:?}; it must be a positive number, in float32 too"),
                ));
            }
        }
        for (key, decay) in [("beta_1", self.beta_1), ("beta_2", self.beta_2)] {
            if !(0.0..1.0).contains(&(decay as f32)) {
                return Err(InvalidValue::new(
                    key,
                    format!("{key} is {decay}; it must be at least 0 and below 1"),
                ));
            }
        }
        if !(0.0..1.0).contains(&self.token_dropout) {
            return Err(InvalidValue::new(
                "token_dropout",
                format!(
                    "token_dropout is {}; it must be at least 0 and below 1",
                    self.token_dropout
                ),
            ));
        }
        if self.patience > 0 && self.keep_best.is_none() {
            return Err(InvalidValue::new(
                "patience",
                "patience needs training.keep_best; name a measure, such as \"held_out_loss\"",
            ));
        }
        Ok(())
    }
}
