//! The config of a model: its sizes, and the settings of its attention.

use headlight_keys::{InvalidValue, Range, Section, choices, section};

use crate::{Mask, Scale};

section! {
    /// The `[model]` section of an experiment.
    pub struct ModelConfig {
        /// Width of embeddings and of the residual stream.
        #[range(Range::of(1, 4096))]
        pub d_model: usize,
        /// Attention heads per block; divides `d_model`.
        #[range(Range::of(1, 4096))]
        pub n_heads: usize = 1,
        /// Number of blocks.
        #[range(Range::of(1, 64))]
        pub n_layers: usize = 1,
        /// Added to the variance in layer norm.
        ///
        /// The notebook uses 1e-6; Keras's default is 1e-3, and Burn's and PyTorch's is 1e-5.
        #[range(Range::POSITIVE)]
        pub layer_norm_eps: f64 = 1e-6,
        /// Width of the feed-forward layer that follows attention in each block; 0 for none.
        #[range(Range::of(0, 16384).hint("0: no feed-forward layer"))]
        pub d_ff: usize = 0,
        /// Whether a learned vector for each position is added to the token's vector.
        pub positions: bool = true,
        /// Settings of the attention.
        pub attention: AttentionConfig = AttentionConfig::default(),
    }
}

/// The properties of the samples that determine the shape of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// Number of tokens, including `[CLS]` = 0.
    pub vocab_size: usize,
    /// Positions of a sample, including `[CLS]`.
    pub positions: usize,
    /// The position of `[CLS]`.
    pub cls_position: usize,
    /// Number of classes.
    pub n_classes: usize,
}

impl Inputs {
    /// Logits per sample: one for two classes, the log-odds of class 1; else one per class.
    pub fn n_logits(self) -> usize {
        match self.n_classes {
            2 => 1,
            n_classes => n_classes,
        }
    }
}

section! {
    /// The `[model.attention]` section, which applies to all blocks.
    pub struct AttentionConfig {
        /// The projections that compute queries, keys and values.
        pub projections: ProjectionKind = ProjectionKind::Separate,
        /// The factor of the products of queries and keys: `true` is 1 / sqrt(d_head), `false` is 1.
        pub scale: Scale = Scale::Root,
        /// Divides the scaled scores: above 1, weights become more even; below 1, sharper.
        #[range(Range::POSITIVE.hint("1 has no effect"))]
        pub temperature: f64 = 1.0,
        /// Which keys each query may look at. A matrix has one row per query and one column per key; 1 allows attention.
        pub mask: Mask = Mask::None,
        /// A token that no query looks at, at any position: it pads samples that are shorter than others.
        #[omit(default)]
        pub padding_token: Option<u32> = None,
    }
}

choices! {
    /// How queries, keys and values are computed from a position's vector.
    pub enum ProjectionKind {
        /// A separate projection for each of the three.
        Separate = "separate",
        /// One projection for all three, so that a query is its own key.
        Shared = "shared",
        /// No projection: all three are the vector itself.
        None = "none",
    }
}

impl AttentionConfig {
    /// The factor of the products of queries and keys: scale divided by temperature.
    pub fn factor(&self, d_head: usize) -> f64 {
        self.scale.factor(d_head) / self.temperature
    }
}

impl ModelConfig {
    /// Width of each head's queries, keys and values: `d_model / n_heads`.
    pub fn d_head(&self) -> usize {
        self.d_model / self.n_heads
    }

    /// The config of a model with these sizes and defaults for everything else. The notebook's model has
    /// `d_model` 8, one head and one layer.
    pub fn new(d_model: usize, n_heads: usize, n_layers: usize) -> Self {
        Self {
            n_heads,
            n_layers,
            ..Self::with_defaults(d_model)
        }
    }

    /// Checks every value.
    ///
    /// # Errors
    /// Names the first invalid value.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        let invalid = |key: &str, message: String| Err(InvalidValue::new(key, message));
        self.check_ranges()?;
        if !self.d_model.is_multiple_of(self.n_heads) {
            return invalid(
                "n_heads",
                format!(
                    "{} heads do not divide d_model = {} evenly",
                    self.n_heads, self.d_model
                ),
            );
        }
        let attention = &self.attention;
        let within = |invalid: InvalidValue| invalid.within("attention");
        attention.check_ranges().map_err(within)?;
        let factor = attention.factor(self.d_head()) as f32;
        if !factor.is_finite() {
            return invalid(
                "attention.scale",
                format!("scale / temperature is {factor}; it must be a finite float32 number"),
            );
        }
        Ok(())
    }

    /// Checks the values that depend on the samples.
    ///
    /// # Errors
    /// Names the first value that is invalid for such samples.
    pub fn validate_for(&self, inputs: Inputs) -> Result<(), InvalidValue> {
        let positions = inputs.positions;
        self.attention
            .mask
            .matrix(positions, positions)
            .map_err(|message| {
                let message = format!("{message}, one per position including [CLS]");
                InvalidValue::new("attention.mask", message)
            })?;
        match self.attention.padding_token {
            Some(token) if token == 0 || token as usize >= inputs.vocab_size => {
                let last = inputs.vocab_size - 1;
                Err(InvalidValue::new(
                    "attention.padding_token",
                    format!(
                        "padding token {token} is outside the vocabulary; samples hold tokens 1 to {last}"
                    ),
                ))
            }
            _ => Ok(()),
        }
    }
}
