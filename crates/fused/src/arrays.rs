//! The arrays of a forward pass: the table that everything iterates over which fills, writes or shows them.
//!
//! A new array is an entry at the end of `arrays!`, and the call of `visit` in `layers` that hands over its values.

use std::ops::{Index, IndexMut};

macro_rules! arrays {
    ($($(#[doc = $doc:literal])+ $array:ident: $name:literal, $axes:expr, $exists:expr;)+) => {
        /// An array of a forward pass. The order is that of dumps.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Array {
            $($(#[doc = $doc])+ $array),+
        }

        impl Array {
            /// Every array.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$array),+];

            /// Its name, its axes, and whether a model of some extents has it.
            fn described(self) -> (&'static str, &'static [&'static str], fn(Dims) -> bool) {
                match self {
                    $(Self::$array => ($name, $axes, $exists)),+
                }
            }

            /// What it holds.
            pub fn sentence(self) -> &'static str {
                match self {
                    $(Self::$array => concat!($($doc),+).trim_ascii()),+
                }
            }
        }
    };
}

const PAIRS: &[&str] = &["sample", "layer", "head", "query", "key"];
const PER_HEAD: &[&str] = &["sample", "layer", "head", "position", "d_head"];
const PER_POSITION: &[&str] = &["sample", "position", "d_model"];
const PER_BLOCK: &[&str] = &["sample", "layer", "position", "d_model"];
const PER_HIDDEN: &[&str] = &["sample", "layer", "position", "d_ff"];

const ALWAYS: fn(Dims) -> bool = |_| true;
const WITH_FEED_FORWARD: fn(Dims) -> bool = |dims| dims.d_ff > 0;

arrays! {
    /// Before the softmax.
    Scores: "attention_scores", PAIRS, ALWAYS;
    /// After the softmax. A row sums to 1, or to 0 where the query may look at no key;
    /// an `attention.rate` below 1 or `attention.softmax = false` changes that.
    Weights: "attention_weights", PAIRS, ALWAYS;
    /// The query vector of a position.
    Query: "query", PER_HEAD, ALWAYS;
    /// The key vector of a position: queries are compared with it.
    Key: "key", PER_HEAD, ALWAYS;
    /// The value vector of a position.
    Value: "value", PER_HEAD, ALWAYS;
    /// Attention weights times values.
    Context: "context", PER_HEAD, ALWAYS;
    /// The first layer's input.
    Embeddings: "embeddings", PER_POSITION, ALWAYS;
    /// A layer's input plus its attention's output, before the norm.
    Residual: "residual", PER_BLOCK, ALWAYS;
    /// The hidden numbers of the feed-forward layer, after the activation.
    FeedForwardHidden: "feed_forward_hidden", PER_HIDDEN, WITH_FEED_FORWARD;
    /// The feed-forward layer's input plus its output, before the norm.
    FeedForwardResidual: "feed_forward_residual", PER_BLOCK, WITH_FEED_FORWARD;
    /// A layer's output.
    Output: "output", PER_BLOCK, ALWAYS;
}

impl Array {
    /// Its name in dumps, in the page and in Python.
    pub fn name(self) -> &'static str {
        self.described().0
    }

    /// Its axes.
    pub fn axes(self) -> &'static [&'static str] {
        self.described().1
    }

    /// Whether models of these extents compute it.
    pub fn exists(self, dims: Dims) -> bool {
        self.described().2(dims)
    }

    /// Whether it has a number for each pair of positions, and not vectors.
    pub fn is_of_pairs(self) -> bool {
        self.axes() == PAIRS
    }

    /// Its shape.
    pub fn shape(self, dims: Dims) -> Vec<usize> {
        dims.shape(self.axes())
    }
}

/// The extent of each axis of the arrays of some samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dims {
    /// Samples.
    pub samples: usize,
    /// Layers of the model.
    pub layers: usize,
    /// Heads of each layer.
    pub heads: usize,
    /// Positions of a sample, including `[CLS]`.
    pub positions: usize,
    /// Width of a head's queries, keys and values.
    pub d_head: usize,
    /// Width of the residual stream.
    pub d_model: usize,
    /// Width of the feed-forward layers; 0 if the model has none.
    pub d_ff: usize,
    /// Logits of an answer: one per class; for two classes one, unless the config asks for one each.
    pub logits: usize,
    /// Whether samples have an answer per position, and not one.
    pub per_position: bool,
}

impl Dims {
    /// The axes of logits and probabilities.
    pub fn axes_of_logits(self) -> &'static [&'static str] {
        let axes = self.axes_of_labels();
        match (axes, self.logits) {
            (_, 1) => axes,
            ([_], _) => &["sample", "class"],
            _ => &["sample", "position", "class"],
        }
    }

    /// The axes of labels.
    pub fn axes_of_labels(self) -> &'static [&'static str] {
        let axes = &["sample", "position"];
        if self.per_position { axes } else { &axes[..1] }
    }

    /// Answers per sample.
    pub fn answers(self) -> usize {
        if self.per_position { self.positions } else { 1 }
    }

    /// The extents of some axes.
    ///
    /// # Panics
    /// As [`extent`](Self::extent).
    pub fn shape(self, axes: &[&str]) -> Vec<usize> {
        axes.iter().map(|axis| self.extent(axis)).collect()
    }

    /// The extent of an axis.
    ///
    /// # Panics
    /// When no axis has this name.
    pub fn extent(self, axis: &str) -> usize {
        match axis {
            "sample" => self.samples,
            "layer" => self.layers,
            "head" => self.heads,
            "position" | "query" | "key" => self.positions,
            "d_head" => self.d_head,
            "d_model" => self.d_model,
            "d_ff" => self.d_ff,
            "class" => self.logits,
            _ => unreachable!("no axis is called {axis}"),
        }
    }
}

/// The values of each array, row-major: empty if the model has no such array, or if it was not recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrays([Vec<f32>; Array::ALL.len()]);

impl Arrays {
    /// The values that a function gives for each array.
    pub fn from_fn(values: impl FnMut(Array) -> Vec<f32>) -> Self {
        Self(Array::ALL.map(values))
    }
}

impl Index<Array> for Arrays {
    type Output = Vec<f32>;

    fn index(&self, array: Array) -> &Vec<f32> {
        &self.0[array as usize]
    }
}

impl IndexMut<Array> for Arrays {
    fn index_mut(&mut self, array: Array) -> &mut Vec<f32> {
        &mut self.0[array as usize]
    }
}
