//! How a model is trained: the loss, what becomes of its gradient, the optimizer, and dropout.

use headlight_architecture::DropoutRates;

/// How a model is trained.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrainingSettings {
    /// The rule by which a step changes the weights.
    pub optimizer: Optimizer,
    /// The loss.
    pub cross_entropy: CrossEntropy,
    /// The largest norm of the gradient of all parameters together; a longer gradient is scaled down to it, as PyTorch's
    /// `clip_grad_norm_` does.
    pub max_grad_norm: Option<f64>,
    /// Whether each step measures the norm of its gradient.
    pub measures_norm: bool,
    /// What each step leaves out.
    pub dropout: Dropout,
}

impl TrainingSettings {
    /// Whether the notebook's engine can take such steps: with the default loss, and without dropout.
    pub(crate) fn suits_notebook(&self) -> bool {
        self.cross_entropy == CrossEntropy::default()
            && self.dropout.rates == DropoutRates::default()
    }
}

/// What each step leaves out of the model's values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dropout {
    /// How much.
    pub rates: DropoutRates,
    /// What the random numbers depend on, beside the number of steps taken.
    pub seed: u64,
}

/// The rule by which a step changes the weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optimizer {
    /// Keras's Adam.
    Adam(Adam),
    /// PyTorch's Adam with decoupled weight decay.
    AdamW(AdamW),
    /// Stochastic gradient descent.
    Sgd(Sgd),
}

/// Adam's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// Step size.
    pub learning_rate: f64,
    /// Decay of the mean of gradients.
    pub beta_1: f64,
    /// Decay of the mean of squared gradients.
    pub beta_2: f64,
    /// Added to the root of the uncorrected mean of squared gradients, as in Keras.
    pub epsilon: f64,
    /// Whether to square the gradient of each occurrence of a token, as Keras does on TensorFlow, or
    /// the sum of these gradients, as published.
    pub per_occurrence: bool,
}

/// Keras's defaults.
impl Default for Adam {
    fn default() -> Self {
        Self {
            learning_rate: 1e-3,
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-7,
            per_occurrence: true,
        }
    }
}

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019), as `torch.optim.AdamW` computes it: before its step,
/// each parameter is multiplied by `1 - learning_rate * weight_decay`, and epsilon is added after the correction of bias.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamW {
    /// The settings that it shares with Adam. The gradients of a token are summed, then squared, whatever `per_occurrence` says.
    pub adam: Adam,
    /// The decay, in shares of the learning rate.
    pub weight_decay: f64,
}

/// Stochastic gradient descent with momentum, as `torch.optim.SGD` computes it: a step goes against
/// `direction = momentum * direction + gradient`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sgd {
    /// Step size.
    pub learning_rate: f64,
    /// The share of the last direction that is kept.
    pub momentum: f64,
}

impl Default for Optimizer {
    fn default() -> Self {
        Self::Adam(Adam::default())
    }
}

impl TrainingSettings {
    /// Whether a step needs the norm of its gradient.
    pub(crate) fn needs_norm(&self) -> bool {
        self.measures_norm || self.max_grad_norm.is_some()
    }
}

impl From<Adam> for TrainingSettings {
    fn from(adam: Adam) -> Self {
        Self {
            optimizer: Optimizer::Adam(adam),
            ..Self::default()
        }
    }
}

impl Optimizer {
    /// Whether it needs the squared gradient of each occurrence of a token.
    pub(crate) fn is_per_occurrence(&self) -> bool {
        matches!(self, Self::Adam(adam) if adam.per_occurrence)
    }

    /// Sets the learning rate.
    pub(crate) fn set_learning_rate(&mut self, learning_rate: f64) {
        match self {
            Self::Adam(adam) | Self::AdamW(AdamW { adam, .. }) => {
                adam.learning_rate = learning_rate;
            }
            Self::Sgd(sgd) => sgd.learning_rate = learning_rate,
        }
    }
}

/// How cross-entropy is computed. Predictions have it without smoothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrossEntropy {
    /// Whether the loss and gradient of the true class come from the probabilities of the others. `probability - target`
    /// rounds to 0 in float32 once the model is sure.
    pub is_accurate: bool,
    /// The share of the target that all classes have in equal parts; the true class has the rest.
    pub smoothing: f32,
    /// Whether a sample's positions that count are averaged before samples are; if not, all of a batch count alike.
    pub per_sample: bool,
    /// Whether samples may have weights. A batch's sum of weight times loss is divided by the number of answers, not by the weights.
    pub is_weighted: bool,
}
