//! The config of a model: its sizes, and the settings of its attention.

use headlight_schema::{Range, choices, section};

use crate::init::InitConfig;
use crate::positions::Positions;
use crate::{Mask, Pooling, Scale};

section! {
    /// The `[model]` section of an experiment.
    pub struct ModelConfig {
        /// Width of embeddings and of the residual stream.
        #[range(Range::of(1, 4096))]
        pub d_model: usize,
        /// Attention heads per layer; divides `d_model`, unless `d_head` is set.
        #[range(Range::of(1, 4096))]
        pub n_heads: usize = 1,
        /// Width of each head's queries, keys and values; if unset, `d_model / n_heads`.
        #[range(Range::of(1, 4096))]
        #[omit(default)]
        pub d_head: Option<usize> = None,
        /// Number of layers.
        #[range(Range::of(1, 64))]
        pub n_layers: usize = 1,
        /// Where each layer normalises vectors.
        #[omit(default)]
        pub norm: NormPlace = NormPlace::Post,
        /// What all norms compute.
        #[omit(default)]
        pub norm_kind: NormKind = NormKind::Layer,
        /// Whether norms learn a gain for each component.
        #[omit(default)]
        pub norm_gain: bool = true,
        /// Whether norms learn a bias for each component; if unset, layer norms do and RMS norms do not.
        #[omit(default)]
        pub norm_bias: Option<bool> = None,
        /// Whether the output of the last layer is normalised; if unset, it is with `norm = "pre"`.
        #[omit(default)]
        pub final_norm: Option<bool> = None,
        /// Whether the first layer's input is normalised.
        #[omit(default)]
        pub embedding_norm: bool = false,
        /// Added to the variance, or to the mean square, in norms.
        ///
        /// The notebook uses 1e-6; Keras's default is 1e-3, and Burn's and PyTorch's is 1e-5.
        #[range(Range::POSITIVE.in_float32())]
        pub layer_norm_eps: f64 = 1e-6,
        /// Width of the feed-forward layer that follows attention in each layer; 0 for none.
        #[range(Range::of(0, 16384).hint("0: no feed-forward layer"))]
        pub d_ff: usize = 0,
        /// The function between the two matrices of feed-forward layers.
        #[omit(default)]
        pub activation: Activation = Activation::Relu,
        /// Whether feed-forward layers have biases.
        #[omit(default)]
        pub feed_forward_bias: bool = true,
        /// How the model knows positions.
        pub positions: Positions = Positions::Learned,
        /// With learned positions, all positions from this one on share its vector, so that longer samples have a meaning.
        #[omit(default)]
        pub positions_shared_from: Option<usize> = None,
        /// The vector that the classifier reads; if unset, that of `[CLS]`, or of the last position without `[CLS]`.
        #[omit(default)]
        pub pooling: Option<Pooling> = None,
        /// Width of a hidden layer of the classifier, which uses `activation`; 0 for none.
        #[range(Range::of(0, 16384).hint("0: no hidden layer"))]
        #[omit(default)]
        pub classifier_hidden: usize = 0,
        /// Whether the classifier has biases.
        #[omit(default)]
        pub classifier_bias: bool = true,
        /// The logits of a model of two classes.
        #[omit(default)]
        pub logits: Logits = Logits::LogOdds,
        /// Whether the classifier's matrix is the transposed token embedding, where class `k` is token `k`.
        #[omit(default)]
        pub tied_embeddings: bool = false,
        /// Settings of the attention.
        pub attention: AttentionConfig = AttentionConfig::default(),
        /// How weights are drawn.
        #[omit(default)]
        pub init: InitConfig = InitConfig::default(),
    }
}

choices! {
    /// Where each layer normalises vectors.
    pub enum NormPlace {
        /// After each residual addition, as in the first transformer.
        Post = "post",
        /// Before attention and before the feed-forward layer, as in GPT-2.
        Pre = "pre",
        /// Nowhere.
        None = "none",
    }
}

choices! {
    /// What norms compute.
    pub enum NormKind {
        /// Mean 0 and variance 1 over the components (Ba et al. 2016).
        Layer = "layer",
        /// Mean square 1 over the components (Zhang and Sennrich 2019).
        Rms = "rms",
    }
}

choices! {
    /// The function between the two matrices of a feed-forward layer.
    pub enum Activation {
        /// max(x, 0).
        Relu = "relu",
        /// x times the normal distribution function of x (Hendrycks and Gimpel 2016).
        Gelu = "gelu",
        /// GELU's approximation by tanh, as in GPT-2.
        GeluTanh = "gelu-tanh",
        /// x times the logistic function of x.
        Silu = "silu",
    }
}

choices! {
    /// The logits of a model of two classes. Models of more classes have one per class.
    pub enum Logits {
        /// One: the log-odds of class 1.
        LogOdds = "log-odds",
        /// One per class.
        PerClass = "per-class",
    }
}

/// The properties of the samples that determine the shape of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// Number of tokens, including `[CLS]` = 0 if samples have it.
    pub vocab_size: usize,
    /// Positions of a sample, including `[CLS]`.
    pub positions: usize,
    /// The position of `[CLS]`, if samples have it.
    pub cls: Option<usize>,
    /// The position whose vector the classifier reads. If it reads all, or their mean, that whose attention is shown.
    pub read_position: usize,
    /// Number of classes.
    pub n_classes: usize,
    /// Whether samples have a label per position: the classifier then reads each.
    pub per_position: bool,
}

/// What the classifier reads of the last layer's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readout {
    /// The vector of one position.
    Position,
    /// The mean over all positions that are not padding.
    Mean,
    /// The vector of each position, for an answer of its own: samples have a label per position.
    Every,
}

section! {
    /// The `[model.attention]` section, which applies to all layers.
    pub struct AttentionConfig {
        /// The projections that compute queries, keys and values.
        pub projections: ProjectionKind = ProjectionKind::Separate,
        /// Whether queries, keys and values have biases.
        #[omit(default)]
        pub bias: bool = true,
        /// Whether values are projected; if not, a head's value is its part of the vector itself.
        #[omit(default)]
        pub value_projection: bool = true,
        /// Whether the contexts of all heads are projected; if not, they are added to the residual stream as they are.
        #[omit(default)]
        pub output_projection: bool = true,
        /// Whether the output projection has a bias.
        #[omit(default)]
        pub output_bias: bool = true,
        /// The factor of the products of queries and keys: `true` is 1 / sqrt(d_head), `false` is 1.
        pub scale: Scale = Scale::Root,
        /// Divides the scaled scores: above 1, attention weights become more even; below 1, sharper.
        #[range(Range::POSITIVE.hint("1 has no effect"))]
        pub temperature: f64 = 1.0,
        /// Whether scores are also multiplied by the natural logarithm of the number of keys that the query may look at.
        #[omit(default)]
        pub log_length: bool = false,
        /// Whether attention weights are the softmax of the scores; if not, they are the scores themselves.
        #[omit(default)]
        pub softmax: bool = true,
        /// Attention rate r: attention weights are r times the softmax plus 1 - r, over the keys that the query may look at.
        #[range(Range::SHARE.hint("1: the softmax"))]
        #[omit(default)]
        pub rate: f64 = 1.0,
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

/// How weights follow from scores, over the keys that a query may look at. All other weights are 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weighting {
    /// Their softmax.
    Softmax,
    /// This share of the softmax, plus the rest to 1 on each key: the attention rate of Zhong et al. 2023. A row need not sum
    /// to 1.
    Rate(f64),
    /// The scores themselves.
    Scores,
}

impl AttentionConfig {
    /// How weights follow from scores.
    pub fn weighting(&self) -> Weighting {
        match self.rate {
            _ if !self.softmax => Weighting::Scores,
            rate if rate < 1.0 => Weighting::Rate(rate),
            _ => Weighting::Softmax,
        }
    }

    /// The factor of the products of queries and keys: scale divided by temperature.
    pub fn factor(&self, d_head: usize) -> f64 {
        self.scale.factor(d_head) / self.temperature
    }
}

impl ModelConfig {
    /// Width of each head's queries, keys and values: `d_model / n_heads` unless it is set.
    pub fn d_head(&self) -> usize {
        self.d_head.unwrap_or(self.d_model / self.n_heads)
    }

    /// Whether the last layer's output is normalised.
    pub fn has_final_norm(&self) -> bool {
        self.final_norm.unwrap_or(self.norm == NormPlace::Pre)
    }

    /// Whether norms learn a bias.
    pub fn has_norm_bias(&self) -> bool {
        self.norm_bias.unwrap_or(self.norm_kind == NormKind::Layer)
    }

    /// What the classifier reads.
    pub fn readout(&self, inputs: Inputs) -> Readout {
        match self.pooling {
            _ if inputs.per_position => Readout::Every,
            Some(Pooling::Mean) => Readout::Mean,
            _ => Readout::Position,
        }
    }

    /// Logits per sample: one for two classes, the log-odds of class 1, unless the config asks for one per class.
    pub fn n_logits(&self, n_classes: usize) -> usize {
        match (n_classes, self.logits) {
            (2, Logits::LogOdds) => 1,
            _ => n_classes,
        }
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
}
