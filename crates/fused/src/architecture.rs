//! The sizes and switches of a classifier.

use std::fmt;

use crate::arrays::Dims;

/// The sizes and switches of a classifier.
///
/// The default has one block of one head and two classes; its sizes are 0 and must be set.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // Each is a switch of its own.
pub struct Architecture {
    /// Number of different tokens.
    pub vocab_size: usize,
    /// Positions per sample, including `[CLS]`.
    pub positions: usize,
    /// The position that the classifier reads, such as that of `[CLS]`; if it reads the mean of all, that whose attention
    /// [`Predictions`](crate::Predictions) have.
    pub read_position: usize,
    /// What the classifier reads.
    pub reads: Reads,
    /// Whether each sample begins with token 0, `[CLS]`: the notebook's step relies on it.
    pub starts_with_cls: bool,
    /// Width of embeddings and of the residual stream.
    pub d_model: usize,
    /// Attention heads per block; divides `d_model` unless `d_head` is set.
    pub n_heads: usize,
    /// Columns of a head; `None` for `d_model / n_heads`.
    pub d_head: Option<usize>,
    /// Blocks.
    pub n_layers: usize,
    /// Width of the feed-forward layer of each block; 0 for none.
    pub d_ff: usize,
    /// Number of classes. Two classes have one logit, the log-odds of class 1; more have one each.
    pub n_classes: usize,
    /// Whether two classes have a logit each, too.
    pub logit_per_class: bool,
    /// The vector of each position that is added to the token's.
    pub position_embedding: PositionEmbedding,
    /// The cosines and the sines that queries and keys are rotated by: component `i` of a head is paired with
    /// `i + d_head / 2`. `[position, d_head / 2]` each
    pub rotation: Option<[Vec<f32>; 2]>,
    /// What queries, keys and values are computed with.
    pub projections: Projections,
    /// Whether values are projected, if projections are separate; if not, a head's values are its columns of the input.
    pub value_projection: bool,
    /// Whether the contexts are projected; if not, they are added to the stream as they are.
    pub output_projection: bool,
    /// The factor of the products of queries and keys; `None` for `1 / sqrt(d_head)`.
    pub scale: Option<f32>,
    /// Whether scores are multiplied by the logarithm of the number of keys that the query may look at, too.
    pub log_length: bool,
    /// What weights are of scores.
    pub weighting: Weighting,
    /// Which parameters are left out.
    pub biases: Biases,
    /// The norms.
    pub norms: Norms,
    /// The function between the two matrices of a feed-forward layer.
    pub activation: Activation,
    /// Width of a hidden layer of the classifier; 0 for none.
    pub classifier_hidden: usize,
    /// Whether the classifier's matrix is the transposed token embedding.
    pub tied_embeddings: bool,
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

/// What the classifier reads of the last block's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reads {
    /// The vector of one position.
    #[default]
    Position,
    /// The mean over all positions that are not padding.
    Mean,
    /// The vector of each position, for an answer of its own: samples have a label per position.
    Every,
}

/// The vector of each position that is added to the token's.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PositionEmbedding {
    /// A learned one.
    #[default]
    Learned,
    /// A learned one for this many positions; all others have the last of them.
    Shared(usize),
    /// A fixed one. `[position, d_model]`
    Fixed(Vec<f32>),
    /// None.
    None,
}

/// What weights are of scores, over the keys that a query may look at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Weighting {
    /// Their softmax.
    #[default]
    Softmax,
    /// A share of the softmax, and 1 minus that share for each key (the attention rate of Zhong et al. 2023).
    Mixed(f32),
    /// The scores themselves.
    Scores,
}

/// Which parts have biases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Each is a switch of its own.
pub struct Biases {
    /// Queries, keys and values.
    pub attention: bool,
    /// The output projection.
    pub output: bool,
    /// The feed-forward layer.
    pub feed_forward: bool,
    /// The classifier.
    pub classifier: bool,
}

/// All have.
impl Default for Biases {
    fn default() -> Self {
        Self {
            attention: true,
            output: true,
            feed_forward: true,
            classifier: true,
        }
    }
}

/// Where norms are, and what they compute.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // Each is a switch of its own.
pub struct Norms {
    /// Those of the blocks.
    pub place: NormPlace,
    /// Whether the mean is not subtracted: RMS norm.
    pub is_rms: bool,
    /// Whether they have a gain.
    pub gain: bool,
    /// Whether they have a bias.
    pub bias: bool,
    /// Whether the last block's output is normalised.
    pub is_last: bool,
    /// Whether the first block's input is normalised.
    pub is_first: bool,
    /// Added to the variance, or to the mean square.
    pub eps: f32,
}

/// Where a block has its norms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NormPlace {
    /// After each residual addition.
    #[default]
    Post,
    /// Before attention and before the feed-forward layer.
    Pre,
    /// Nowhere.
    None,
}

/// Layer norms after each residual addition, with the notebook's epsilon.
impl Default for Norms {
    fn default() -> Self {
        Self {
            place: NormPlace::Post,
            is_rms: false,
            gain: true,
            bias: true,
            is_last: false,
            is_first: false,
            eps: 1e-6,
        }
    }
}

/// The function between the two matrices of a feed-forward layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activation {
    /// max(x, 0).
    #[default]
    Relu,
    /// x times the normal distribution function of x.
    Gelu,
    /// Its approximation by tanh.
    GeluTanh,
    /// x times the logistic function of x.
    Silu,
}

impl Default for Architecture {
    fn default() -> Self {
        Self {
            vocab_size: 0,
            positions: 0,
            read_position: 0,
            starts_with_cls: true,
            reads: Reads::Position,
            d_model: 0,
            n_heads: 1,
            d_head: None,
            n_layers: 1,
            d_ff: 0,
            n_classes: 2,
            logit_per_class: false,
            position_embedding: PositionEmbedding::Learned,
            rotation: None,
            projections: Projections::Separate,
            value_projection: true,
            output_projection: true,
            scale: None,
            log_length: false,
            weighting: Weighting::Softmax,
            biases: Biases::default(),
            norms: Norms::default(),
            activation: Activation::Relu,
            classifier_hidden: 0,
            tied_embeddings: false,
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
            "invalid {:?}: every size but d_ff and classifier_hidden must be at least 1 and n_classes at least 2, n_heads \
             must divide d_model unless d_head is set, read_position must be a position, mask and tables must have a row for \
             each position, and parts without a projection or with tied embeddings must have the sizes of what takes their place",
            self.0
        )
    }
}

impl std::error::Error for InvalidArchitecture {}

impl Architecture {
    /// Checks the sizes.
    ///
    /// # Errors
    /// When a size is 0, parts do not have sizes that go together, there are fewer than 2 classes, or the position that is
    /// read, the mask and the tables are not those of the samples.
    pub fn validate(self) -> Result<Self, InvalidArchitecture> {
        let sizes = [
            self.vocab_size,
            self.positions,
            self.d_model,
            self.n_heads,
            self.n_layers,
            self.d_head.unwrap_or(1),
        ];
        if sizes.contains(&0) || !self.fits() {
            return Err(InvalidArchitecture(Box::new(self)));
        }
        Ok(self)
    }

    /// Whether sizes, none of them 0, go together.
    fn fits(&self) -> bool {
        let (p, d, d_head) = (self.positions, self.d_model, self.d_head());
        let is_whole = self.projections != Projections::None
            && self.value_projection
            && self.output_projection;
        let positions = match &self.position_embedding {
            PositionEmbedding::Shared(rows) => (1..=p).contains(rows),
            PositionEmbedding::Fixed(table) => table.len() == p * d,
            PositionEmbedding::Learned | PositionEmbedding::None => true,
        };
        let halves =
            |tables: &[Vec<f32>; 2]| tables.iter().all(|half| half.len() == p * (d_head / 2));
        (self.d_head.is_some() || d.is_multiple_of(self.n_heads))
            && (is_whole || self.n_heads * d_head == d)
            && (self.value_projection || self.projections == Projections::Separate)
            && positions
            && self
                .rotation
                .as_ref()
                .is_none_or(|tables| d_head.is_multiple_of(2) && halves(tables))
            && self.n_classes >= 2
            && self.read_position < p
            && (!self.tied_embeddings
                || self.n_logits() == self.vocab_size && self.classifier_hidden == 0)
            && self.mask.as_ref().is_none_or(|mask| mask.len() == p * p)
    }

    /// Columns of a head.
    pub fn d_head(&self) -> usize {
        self.d_head.unwrap_or(self.d_model / self.n_heads)
    }

    /// Columns of all heads together.
    pub(crate) fn heads_width(&self) -> usize {
        self.n_heads * self.d_head()
    }

    /// Logits per answer.
    pub fn n_logits(&self) -> usize {
        if self.n_classes == 2 && !self.logit_per_class {
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
            per_position: self.reads == Reads::Every,
        }
    }

    /// Answers per sample: one, or one per position.
    pub fn answers(&self) -> usize {
        match self.reads {
            Reads::Position | Reads::Mean => 1,
            Reads::Every => self.positions,
        }
    }

    /// The factor of the products of queries and keys.
    pub fn scale(&self) -> f32 {
        self.scale
            .unwrap_or_else(|| 1.0 / (self.d_head() as f32).sqrt())
    }

    /// Whether the one-block step computes it: the notebook's model, of which only vocabulary, length, scale and the width, 8 or
    /// 16, may differ.
    pub(crate) fn is_one_block(&self) -> bool {
        let mut plain = Self {
            vocab_size: self.vocab_size,
            positions: self.positions,
            d_model: self.d_model,
            scale: self.scale,
            ..Self::default()
        };
        plain.norms.eps = self.norms.eps;
        *self == plain && matches!(self.d_model, 8 | 16)
    }

    /// Whether the row that the classifier reads can be computed without keys and values (see `blocks::forward`).
    pub(crate) fn folds_keys(&self) -> bool {
        self.weighting == Weighting::Softmax
            && !self.log_length
            && self.rotation.is_none()
            && self.reads == Reads::Position
    }
}
