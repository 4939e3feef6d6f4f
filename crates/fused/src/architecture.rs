//! The sizes and switches of a classifier.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::arrays::Dims;
use crate::lanes::sqrt;

/// The sizes and switches of a classifier.
///
/// The default has one block of one head and two classes; its sizes are 0 and must be set.
#[derive(Clone, Debug, PartialEq)]
pub struct Architecture {
    /// Number of different tokens.
    pub vocab_size: usize,
    /// Positions per sample, including `[CLS]`.
    pub positions: usize,
    /// The position of `[CLS]`, from which the classifier reads.
    pub cls_position: usize,
    /// Width of embeddings and of the residual stream.
    pub d_model: usize,
    /// Attention heads per block; divides `d_model`.
    pub n_heads: usize,
    /// Blocks.
    pub n_layers: usize,
    /// Width of the feed-forward layer of each block; 0 for none.
    pub d_ff: usize,
    /// Number of classes. Two classes have one logit, the log-odds of class 1; more have one each.
    pub n_classes: usize,
    /// Whether a learned vector for each position is added to the token's.
    pub position_embedding: bool,
    /// What queries, keys and values are computed with.
    pub projections: Projections,
    /// The factor of the products of queries and keys; `None` for `1 / sqrt(d_head)`.
    pub scale: Option<f32>,
    /// Added to the variance in layer norm.
    pub layer_norm_eps: f32,
    /// Which keys each query may look at; `None` if all. `[query, key]`
    pub mask: Option<Vec<bool>>,
    /// A token that no query looks at.
    pub padding_token: Option<u32>,
}

/// What queries, keys and values are computed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Projections {
    /// A projection for each.
    #[default]
    Separate,
    /// One projection for all three.
    Shared,
    /// None: the input is used as all three.
    None,
}

impl Default for Architecture {
    fn default() -> Self {
        Self {
            vocab_size: 0,
            positions: 0,
            cls_position: 0,
            d_model: 0,
            n_heads: 1,
            n_layers: 1,
            d_ff: 0,
            n_classes: 2,
            position_embedding: true,
            projections: Projections::Separate,
            scale: None,
            layer_norm_eps: 1e-6,
            mask: None,
            padding_token: None,
        }
    }
}

/// An architecture that cannot be.
#[derive(Clone, Debug, PartialEq)]
pub struct InvalidArchitecture(pub Box<Architecture>);

impl fmt::Display for InvalidArchitecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "invalid {:?}: every size but d_ff must be at least 1 and n_classes at least 2, n_heads must divide \
             d_model, cls_position must be a position, and the mask must have a row and a column for each position",
            self.0
        )
    }
}

impl core::error::Error for InvalidArchitecture {}

impl Architecture {
    /// Checks the sizes.
    ///
    /// # Errors
    /// When a size is 0, `n_heads` does not divide `d_model`, there are fewer than 2 classes, or the
    /// positions of `[CLS]` and of the mask are not those of the samples.
    pub fn validate(self) -> Result<Self, InvalidArchitecture> {
        let sizes = [
            self.vocab_size,
            self.positions,
            self.d_model,
            self.n_heads,
            self.n_layers,
        ];
        let mask = self.mask.as_ref();
        let is_valid = !sizes.contains(&0)
            && self.d_model.is_multiple_of(self.n_heads)
            && self.n_classes >= 2
            && self.cls_position < self.positions
            && mask.is_none_or(|mask| mask.len() == self.positions * self.positions);
        if is_valid {
            Ok(self)
        } else {
            Err(InvalidArchitecture(Box::new(self)))
        }
    }

    /// Columns of a head.
    pub fn d_head(&self) -> usize {
        self.d_model / self.n_heads
    }

    /// Logits per sample.
    pub fn n_logits(&self) -> usize {
        if self.n_classes == 2 {
            1
        } else {
            self.n_classes
        }
    }

    /// The extents of the arrays of some samples.
    pub fn dims(&self, samples: usize) -> Dims {
        Dims {
            samples,
            layers: self.n_layers,
            heads: self.n_heads,
            positions: self.positions,
            d_head: self.d_head(),
            d_model: self.d_model,
            d_ff: self.d_ff,
            logits: self.n_logits(),
        }
    }

    /// The factor of the products of queries and keys.
    pub fn scale(&self) -> f32 {
        self.scale
            .unwrap_or_else(|| 1.0 / sqrt(self.d_head() as f32))
    }

    /// Number of trainable parameters.
    pub fn parameter_count(&self) -> usize {
        let (d, logits) = (self.d_model, self.n_logits());
        let linear = |inputs: usize, outputs: usize| (inputs + 1) * outputs;
        let norm = 2 * d;
        let projections = match self.projections {
            Projections::Separate => 3,
            Projections::Shared => 1,
            Projections::None => 0,
        };
        let feed_forward = match self.d_ff {
            0 => 0,
            d_ff => linear(d, d_ff) + linear(d_ff, d) + norm,
        };
        let block = (projections + 1) * linear(d, d) + norm + feed_forward;
        let rows = self.vocab_size
            + if self.position_embedding {
                self.positions
            } else {
                0
            };
        rows * d + self.n_layers * block + linear(d, logits)
    }

    /// Whether the one-block step computes it.
    pub(crate) fn is_one_block(&self) -> bool {
        (self.n_layers, self.d_ff, self.n_classes, self.cls_position) == (1, 0, 2, 0)
            && self.position_embedding
            && self.projections == Projections::Separate
            && self.mask.is_none()
            && self.padding_token.is_none()
    }
}
