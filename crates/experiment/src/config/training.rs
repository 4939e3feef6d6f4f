//! The config of training: epochs, batches, Adam, and which model to keep.

use headlight_fused::Adam;
use headlight_keys::{InvalidValue, Range, Section, choices, section};

use crate::metrics::Measure;

section! {
    /// The `[training]` section: epochs, batches, and Adam. The defaults are those of [`Adam`], and the notebook's batch size.
    pub struct TrainingConfig {
        /// Passes over the training samples, which are shuffled again for each.
        #[range(Range::at_least(1))]
        pub epochs: usize,
        /// Samples per step.
        #[range(Range::at_least(1))]
        pub batch_size: usize = 16,
        /// Adam's step size.
        #[range(Range::POSITIVE.in_float32())]
        pub learning_rate: f64 = Adam::default().learning_rate,
        /// Decay of Adam's mean of gradients.
        #[range(Range::BELOW_ONE.in_float32())]
        pub beta_1: f64 = Adam::default().beta_1,
        /// Decay of Adam's mean of squared gradients.
        #[range(Range::BELOW_ONE.in_float32())]
        pub beta_2: f64 = Adam::default().beta_2,
        /// Added to the root of Adam's mean of squared gradients.
        #[range(Range::POSITIVE.in_float32())]
        pub epsilon: f64 = Adam::default().epsilon,
        /// How a token that occurs several times in a batch enters Adam's mean of squared gradients.
        pub token_second_moment: TokenSecondMoment = TokenSecondMoment::PerOccurrence,
        /// The share of tokens that each step leaves out at random; `[CLS]` stays, and evaluations leave out none. It needs
        /// `model.attention.padding_token`, which takes their place.
        #[range(Range::BELOW_ONE)]
        #[omit(default)]
        pub token_dropout: f64 = 0.0,
        /// Steps between evaluations within an epoch; 0 evaluates only at the end of each epoch.
        pub evaluate_every: usize = 0,
        /// The measure by which the best model is chosen and kept, beside the last one. If unset, only the last
        /// model is kept.
        #[omit(default)]
        pub keep_best: Option<Measure> = None,
        /// Training stops after this many evaluations in a row without a better `keep_best`; 0 never stops it.
        pub patience: usize = 0,
    }
}

choices! {
    /// How a token that occurs several times in a batch enters Adam's mean of squared gradients.
    ///
    /// `[CLS]` occurs in every sample. Therefore the step size of its embedding differs between the two by a
    /// factor of up to the root of the batch size.
    pub enum TokenSecondMoment {
        /// The gradient of each occurrence is squared, as in Keras on TensorFlow.
        ///
        /// Keras 3 does so because an embedding's gradient is a list of rows there, which is not summed before
        /// `Adam.update_step` squares it. The notebook's numbers come from there.
        PerOccurrence = "per-occurrence",
        /// Gradients are summed, and the sum is squared: Adam as published, as in PyTorch and JAX.
        PerToken = "per-token",
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
        self.check_ranges()?;
        if self.patience > 0 && self.keep_best.is_none() {
            return Err(InvalidValue::new(
                "patience",
                "patience needs training.keep_best; name a measure, such as \"held_out_loss\"",
            ));
        }
        Ok(())
    }
}
