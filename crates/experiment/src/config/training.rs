//! The config of training: epochs, batches, the optimizer, and which model to keep.

use std::path::PathBuf;

use headlight_fused::{Adam, AdamW, CrossEntropy, Dropout, Optimizer, Sgd, TrainingSettings};
use headlight_schema::{ConfigSection, InvalidValue, Range, choices, section};

use super::adaptable::Adaptable;
use super::class_weights::ClassWeights;
use super::dropout::DropoutConfig;
use crate::metrics::Criterion;

section! {
    /// The `[training]` section: epochs, batches, and the optimizer. The defaults are those of [`Adam`], and the notebook's batch
    /// size.
    #[complete(TrainingConfig::complete)]
    pub struct TrainingConfig {
        /// Passes over the training samples, which are shuffled again for each. With `steps`, it may be left out.
        #[range(Range::at_least(1))]
        #[omit(default)]
        pub epochs: Option<usize> = None,
        /// Training ends after this many steps, or after `epochs`, whichever comes first.
        #[range(Range::at_least(1))]
        #[omit(default)]
        pub steps: Option<usize> = None,
        /// Samples per step.
        #[range(Range::at_least(1))]
        pub batch_size: usize = 16,
        /// Parameters to start from: a `.safetensors` file of this model, or a run. The optimizer starts as for a new model. If
        /// unset, the seed draws them.
        #[omit(default)]
        pub start: Option<PathBuf> = None,
        /// The rule by which each step changes the parameters.
        #[omit(default)]
        pub optimizer: OptimizerName = OptimizerName::Adam,
        /// The optimizer's learning rate.
        #[range(Range::POSITIVE.in_float32())]
        pub learning_rate: f64 = Adam::default().learning_rate,
        /// How the learning rate changes over training.
        #[omit(default)]
        pub schedule: Schedule = Schedule::Constant,
        /// The learning rate rises evenly over the first steps: step 1 uses 0, and step `warmup_steps` + 1 all of it.
        #[omit(default)]
        pub warmup_steps: usize = 0,
        /// Decay of Adam's mean of gradients.
        #[range(Range::BELOW_ONE.in_float32())]
        pub beta_1: f64 = Adam::default().beta_1,
        /// Decay of Adam's mean of squared gradients.
        #[range(Range::BELOW_ONE.in_float32())]
        pub beta_2: f64 = Adam::default().beta_2,
        /// Added to the root of Adam's mean of squared gradients. If it is left out, `adamw` uses 1e-8.
        #[range(Range::POSITIVE.in_float32())]
        pub epsilon: Adaptable<f64> = Adaptable::by_default(Adam::default().epsilon),
        /// With `adamw`: each step first shrinks every parameter by this share of the learning rate. If unset, 0.01.
        #[range(Range::at_least(0).in_float32())]
        #[omit(default)]
        pub weight_decay: Option<f64> = None,
        /// With `sgd`: the share of the last step's direction that a step keeps.
        #[range(Range::BELOW_ONE.in_float32())]
        #[omit(default)]
        pub momentum: f64 = 0.0,
        /// If the norm of the gradient of all parameters together is larger, the gradient is scaled down to this norm.
        #[range(Range::POSITIVE.in_float32())]
        #[omit(default)]
        pub max_grad_norm: Option<f64> = None,
        /// How a token that occurs several times in a batch enters Adam's mean of squared gradients. If it is left out, `adamw` uses
        /// `per-token`.
        pub token_second_moment: Adaptable<TokenSecondMoment> =
            Adaptable::by_default(TokenSecondMoment::PerOccurrence),
        /// How the cross-entropy is computed; if unset, `plain` with `adam` and `accurate` with other optimizers.
        #[omit(default)]
        pub cross_entropy: Option<CrossEntropyKind> = None,
        /// With a label per position: whether the positions of a sample that count are averaged before samples are; if not, all of
        /// a batch count alike.
        #[omit(default)]
        pub loss_per_sample: bool = false,
        /// The target of each class is `label_smoothing / n_classes`, plus `1 - label_smoothing` for the true one. Evaluations measure without it.
        #[range(Range::BELOW_ONE.in_float32())]
        #[omit(default)]
        pub label_smoothing: f64 = 0.0,
        /// How much the answers of each class count in the training loss: a table from class names or numbers to weights. A class
        /// without an entry has weight 1. The loss of a batch is the sum of weight times loss, divided by the number of answers; evaluations
        /// measure without weights.
        #[omit(default)]
        pub class_weights: Option<ClassWeights> = None,
        /// The share of tokens that each step leaves out at random; `[CLS]` stays, and evaluations leave out none. It needs
        /// `model.attention.padding_token`, which takes their place.
        #[range(Range::BELOW_ONE)]
        #[omit(default)]
        pub token_dropout: f64 = 0.0,
        /// Steps between evaluations within an epoch; 0 evaluates only at the end of each epoch.
        pub evaluate_every: usize = 0,
        /// Steps to evaluate at, in place of `evaluate_every` and of the ends of epochs; the last step is always evaluated.
        #[omit(default)]
        pub evaluate_at: Vec<usize> = Vec::new(),
        /// Evaluations per factor of ten of steps, as even as whole steps allow, in place of `evaluate_every` and of the ends of
        /// epochs; 0 for none.
        #[range(Range::of(0, 1000))]
        #[omit(default)]
        pub evaluations_per_decade: usize = 0,
        /// Whether each evaluation also measures the norm of all parameters together and that of the last step's gradient, before it is scaled down.
        #[omit(default)]
        pub norms: bool = false,
        /// Whether the parameters of each evaluated step are saved, in `weights/`.
        #[omit(default)]
        pub save_weights: bool = false,
        /// The criterion by which the best model is chosen and kept, beside the last one. If unset, only the last
        /// model is kept.
        #[omit(default)]
        pub keep_best: Option<Criterion> = None,
        /// Training stops after this many evaluations in a row without a better `keep_best`; 0 never stops it.
        pub patience: usize = 0,
        /// What each step leaves out of the model's values at random.
        #[omit(default)]
        pub dropout: DropoutConfig = DropoutConfig::default(),
    }
}

choices! {
    /// The rule by which each step changes the parameters.
    pub enum OptimizerName {
        /// Adam as Keras computes it.
        Adam = "adam",
        /// Adam with decoupled weight decay, as PyTorch's `torch.optim.AdamW` computes it; with `weight_decay = 0`, PyTorch's Adam.
        AdamW = "adamw",
        /// Stochastic gradient descent with momentum, as PyTorch computes it.
        Sgd = "sgd",
    }
}

choices! {
    /// How the learning rate changes over training, after the warm-up.
    pub enum Schedule {
        /// The learning rate stays the same after the warm-up.
        Constant = "constant",
        /// It falls evenly, to 0 after the last step.
        Linear = "linear",
        /// It falls as half a period of a cosine does, to 0 after the last step.
        Cosine = "cosine",
    }
}

choices! {
    /// How the cross-entropy and its gradient are computed.
    pub enum CrossEntropyKind {
        /// As Keras does: the gradient of a logit is probability minus target, which float32 rounds to 0 for a confident model.
        Plain = "plain",
        /// The true class's loss and gradient are computed from the probabilities of the others, so that a confident model still has
        /// small ones.
        Accurate = "accurate",
    }
}

choices! {
    /// How a token that occurs several times in a batch enters Adam's mean of squared gradients.
    ///
    /// `[CLS]` occurs in every sample. Therefore the size of its embedding's steps differs between the two choices by a factor of up to the root of the batch size.
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
    /// Defaults that depend on the optimizer.
    fn complete(&mut self) {
        if self.optimizer != OptimizerName::Adam {
            self.epsilon.adapt(1e-8);
            self.token_second_moment.adapt(TokenSecondMoment::PerToken);
        }
    }

    /// How the fused engine trains. Dropout needs the seed of the experiment.
    pub fn fused(&self, seed: u64) -> TrainingSettings {
        let adam = Adam {
            learning_rate: self.learning_rate,
            beta_1: self.beta_1,
            beta_2: self.beta_2,
            epsilon: self.epsilon.value,
            per_occurrence: self.token_second_moment.value == TokenSecondMoment::PerOccurrence,
        };
        let optimizer = match self.optimizer {
            OptimizerName::Adam => Optimizer::Adam(adam),
            OptimizerName::AdamW => Optimizer::AdamW(AdamW {
                adam,
                weight_decay: self.weight_decay(),
            }),
            OptimizerName::Sgd => Optimizer::Sgd(Sgd {
                learning_rate: self.learning_rate,
                momentum: self.momentum,
            }),
        };
        TrainingSettings {
            optimizer,
            cross_entropy: CrossEntropy {
                is_accurate: self.is_accurate(),
                smoothing: self.label_smoothing as f32,
                per_sample: self.loss_per_sample,
                is_weighted: self.class_weights.is_some(),
            },
            max_grad_norm: self.max_grad_norm,
            measures_norm: self.norms,
            dropout: Dropout {
                rates: self.dropout.rates(),
                seed,
            },
        }
    }

    /// The share of the learning rate by which `adamw` shrinks weights.
    pub fn weight_decay(&self) -> f64 {
        self.weight_decay.unwrap_or(0.01)
    }

    /// Whether small losses and gradients of a confident model are kept.
    pub fn is_accurate(&self) -> bool {
        let by_default = match self.optimizer {
            OptimizerName::Adam => CrossEntropyKind::Plain,
            _ => CrossEntropyKind::Accurate,
        };
        self.cross_entropy.unwrap_or(by_default) == CrossEntropyKind::Accurate
    }

    /// Batches per epoch of so many samples.
    pub fn steps_per_epoch(&self, samples: usize) -> usize {
        samples.div_ceil(self.batch_size).max(1)
    }

    /// Steps of a training whose epochs have this many.
    pub fn total_steps(&self, per_epoch: usize) -> usize {
        let epochs = self
            .epochs
            .map_or(usize::MAX, |epochs| epochs.saturating_mul(per_epoch));
        self.steps.map_or(epochs, |steps| steps.min(epochs))
    }

    /// Checks every value.
    ///
    /// # Errors
    /// Names the first invalid value, with its key within `[training]`.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        let invalid = |key: &str, message: &str| Err(InvalidValue::new(key, message));
        self.check_ranges()?;
        let dropout = self.dropout.validate();
        dropout.map_err(|invalid| invalid.within("dropout"))?;
        if (self.epochs, self.steps) == (None, None) {
            return invalid(
                "epochs",
                "the config does not say how long to train; set training.epochs, training.steps, or both",
            );
        }
        if self.weight_decay.is_some() && self.optimizer != OptimizerName::AdamW {
            return invalid(
                "weight_decay",
                "only adamw has weight decay; set training.optimizer = \"adamw\", or remove this key",
            );
        }
        if self.momentum > 0.0 && self.optimizer != OptimizerName::Sgd {
            return invalid(
                "momentum",
                "only sgd has momentum; set training.optimizer = \"sgd\", or remove this key (adam's is beta_1)",
            );
        }
        if self.token_second_moment.value == TokenSecondMoment::PerOccurrence {
            let other = if self.optimizer == OptimizerName::Adam {
                self.max_grad_norm
                    .map(|_| "the clipping of gradients (max_grad_norm)".to_owned())
            } else {
                Some(format!("optimizer = \"{}\"", self.optimizer.name()))
            };
            if let Some(other) = other {
                let message = format!(
                    "\"per-occurrence\" is Keras's Adam, and does not go with {other}; set training.token_second_moment = \"per-token\", or training.optimizer = \"adamw\""
                );
                return invalid("token_second_moment", &message);
            }
        }
        if !self.evaluate_at.is_empty() && self.evaluations_per_decade > 0 {
            return invalid(
                "evaluate_at",
                "evaluate_at and evaluations_per_decade both choose steps; remove one of them",
            );
        }
        if self.evaluate_every > 0
            && (!self.evaluate_at.is_empty() || self.evaluations_per_decade > 0)
        {
            return invalid(
                "evaluate_every",
                "evaluate_at and evaluations_per_decade replace it; remove one of them",
            );
        }
        if self.patience > 0 && self.keep_best.is_none() {
            return invalid(
                "patience",
                "patience needs training.keep_best; name a criterion, such as \"held_out_loss\"",
            );
        }
        Ok(())
    }
}
