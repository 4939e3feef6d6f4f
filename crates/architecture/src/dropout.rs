//! Dropout (Srivastava et al. 2014): what a step of training leaves out of a model's values at random.
//!
//! A value is left out where a random 16-bit number is below a threshold: 65,536 times the rate, rounded, and at most 65,535.
//! Kept values are divided by the share that is kept, as in Keras and PyTorch, so that evaluations need no factor. The random
//! number is one of ChaCha8. It depends on the seed, the step, the sample's place in the batch, the [place](DropoutPlace) in
//! the model, and the index of the value among those of its sample.

/// The share of values that each step leaves out. Part of training: the model has no dropout.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DropoutRates {
    /// Of the first layer's input: the sums of token and position embeddings, after their norm if the model has one.
    pub embedding: f64,
    /// Of attention weights.
    pub attention: f64,
    /// Of a feed-forward layer's hidden values, after the activation.
    pub hidden: f64,
    /// Of what attention and a feed-forward layer add to the residual stream, after their biases.
    pub residual: f64,
}

/// Where values are left out, with the number of the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropoutPlace {
    /// The first layer's input. `[position, d_model]`
    Embedding,
    /// Attention weights. `[head, query, key]`
    Attention(usize),
    /// Hidden values of the feed-forward layer. `[position, d_ff]`
    Hidden(usize),
    /// What attention adds to the residual stream. `[position, d_model]`
    AttentionOutput(usize),
    /// What the feed-forward layer adds to it. `[position, d_model]`
    FeedForwardOutput(usize),
}

/// The number of a place follows from this one, so another place in a layer gives every seed other random numbers.
const PLACES_PER_LAYER: u32 = 4;

impl DropoutPlace {
    /// Its number among all places, by which it has random numbers of its own.
    pub fn number(self) -> u32 {
        let (layer, index) = match self {
            Self::Embedding => return 0,
            Self::Attention(layer) => (layer, 1),
            Self::Hidden(layer) => (layer, 2),
            Self::AttentionOutput(layer) => (layer, 3),
            Self::FeedForwardOutput(layer) => (layer, 4),
        };
        PLACES_PER_LAYER * layer as u32 + index
    }
}

impl DropoutRates {
    /// The rate of a place.
    pub fn rate_at(&self, place: DropoutPlace) -> f64 {
        match place {
            DropoutPlace::Embedding => self.embedding,
            DropoutPlace::Attention(_) => self.attention,
            DropoutPlace::Hidden(_) => self.hidden,
            DropoutPlace::AttentionOutput(_) | DropoutPlace::FeedForwardOutput(_) => self.residual,
        }
    }

    /// The threshold, below which the random number of a value leaves it out, and the factor of kept values; `None` where all
    /// are kept.
    pub fn threshold_and_factor(&self, place: DropoutPlace) -> Option<(u32, f32)> {
        let rate = self.rate_at(place);
        // Some are kept, however high the rate is. By the share that is kept, the mean of a value stays as it is.
        let threshold = (rate * 65_536.0).round().min(65_535.0);
        let factor = 65_536.0 / (65_536.0 - threshold);
        (threshold > 0.0).then_some((threshold as u32, factor as f32))
    }
}
