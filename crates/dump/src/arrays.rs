//! The arrays of a dump: the struct that holds them, and the table that every format iterates over.
//!
//! A new array is a field of [`AttentionDump`] and one entry of `ARRAYS`.

use std::collections::BTreeMap;

use crate::{Dims, Meta};

/// What a model computed for some samples.
///
/// All arrays are row-major; their lengths follow from [`dims`](Self::dims).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttentionDump {
    /// The extent of each axis.
    pub dims: Dims,
    /// Where the dump comes from.
    pub meta: Meta,
    /// Token ids, `[CLS]` = 0 first. `[sample, position]`
    pub tokens: Vec<i64>,
    /// The class of each sample; NaN if it is unknown. `[sample]`
    pub labels: Vec<f32>,
    /// Log-odds of class 1 `[sample]`; of more than two classes, the logit of each `[sample, class]`.
    pub logits: Vec<f32>,
    /// Probability of class 1 `[sample]`; of more than two classes, that of each `[sample, class]`.
    pub probabilities: Vec<f32>,
    /// Before the softmax. `[sample, layer, head, query, key]`
    pub attention_scores: Vec<f32>,
    /// After the softmax; each row sums to 1. `[sample, layer, head, query, key]`
    pub attention_weights: Vec<f32>,
    /// `[sample, layer, head, position, d_head]`
    pub query: Vec<f32>,
    /// `[sample, layer, head, position, d_head]`
    pub key: Vec<f32>,
    /// `[sample, layer, head, position, d_head]`
    pub value: Vec<f32>,
    /// Weights times values. `[sample, layer, head, position, d_head]`
    pub context: Vec<f32>,
    /// The first block's input. `[sample, position, d_model]`
    pub embeddings: Vec<f32>,
    /// Input plus the attention output, before the norm. `[sample, layer, position, d_model]`
    pub residual: Vec<f32>,
    /// Which keys each query may attend to, in all layers and heads; `None` if every query may attend
    /// to all keys. `[sample, query, key]`
    pub attention_mask: Option<Vec<bool>>,
    /// What the feed-forward layers compute; `None` if the model has no feed-forward layers.
    pub feed_forward: Option<FeedForward>,
}

/// What the feed-forward layers of a model compute.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeedForward {
    /// After the rectifier. `[sample, layer, position, d_ff]`
    pub hidden: Vec<f32>,
    /// Input plus output, before the norm. `[sample, layer, position, d_model]`
    pub residual: Vec<f32>,
}

/// One array of a dump, as every format sees it.
pub(crate) struct ArraySpec {
    pub(crate) name: &'static str,
    axes: &'static [&'static str],
    pub(crate) field: Field,
    pub(crate) part: Part,
    /// The name of its column in CSV. Such arrays have the axes `PAIRS`.
    pub(crate) column: Option<&'static str>,
    /// Whether its values may be NaN, which stands for "unknown".
    pub(crate) or_unknown: bool,
}

/// Which dumps have an array. The arrays of a part are in a dump together or not at all.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Part {
    Always,
    FeedForward,
    Mask,
}

/// The type of an array, a function that reads it, and one that returns the place to fill.
pub(crate) enum Field {
    Integers(Read<i64>, Fill<i64>),
    Floats(Read<f32>, Fill<f32>),
    Booleans(Read<bool>, Fill<bool>),
}

pub(crate) type Read<T> = fn(&AttentionDump) -> Option<&Vec<T>>;
pub(crate) type Fill<T> = fn(&mut AttentionDump) -> &mut Vec<T>;

/// The values of an array.
pub(crate) enum Values<'a> {
    Integers(&'a [i64]),
    Floats(&'a [f32]),
    Booleans(&'a [bool]),
}

macro_rules! arrays {
    ($($name:literal: $kind:ident($($field:tt)+), $axes:expr $(, $key:ident: $value:expr)*;)+) => {
        [$(ArraySpec {
            $($key: $value,)*
            ..ArraySpec::new($name, $axes, arrays!(@ $kind $($field)+))
        }),+]
    };
    (@ $kind:ident $field:ident) => {
        Field::$kind(|dump| Some(&dump.$field), |dump| &mut dump.$field)
    };
    (@ $kind:ident $part:ident?) => {
        Field::$kind(|dump| dump.$part.as_ref(), |dump| dump.$part.get_or_insert_default())
    };
    (@ $kind:ident $part:ident?.$field:ident) => {
        Field::$kind(
            |dump| Some(&dump.$part.as_ref()?.$field),
            |dump| &mut dump.$part.get_or_insert_default().$field,
        )
    };
}

/// The axes of one number for each pair of positions.
pub(crate) const PAIRS: &[&str] = &["sample", "layer", "head", "query", "key"];
/// Without the last one if there is one logit.
const PER_CLASS: &[&str] = &["sample", "class"];
const PER_HEAD: &[&str] = &["sample", "layer", "head", "position", "d_head"];
const PER_LAYER: &[&str] = &["sample", "layer", "position", "d_model"];

/// All arrays, in the order of the npz and JSON formats: name, type and field, axes, settings.
#[rustfmt::skip]
pub(crate) const ARRAYS: &[ArraySpec] = &arrays![
    "tokens": Integers(tokens), &["sample", "position"];
    "labels": Floats(labels), &["sample"], or_unknown: true;
    "logits": Floats(logits), PER_CLASS;
    "probabilities": Floats(probabilities), PER_CLASS;
    "attention_scores": Floats(attention_scores), PAIRS, column: Some("score");
    "attention_weights": Floats(attention_weights), PAIRS, column: Some("weight");
    "query": Floats(query), PER_HEAD;
    "key": Floats(key), PER_HEAD;
    "value": Floats(value), PER_HEAD;
    "context": Floats(context), PER_HEAD;
    "embeddings": Floats(embeddings), &["sample", "position", "d_model"];
    "residual": Floats(residual), PER_LAYER;
    "feed_forward_hidden": Floats(feed_forward?.hidden), &["sample", "layer", "position", "d_ff"], part: Part::FeedForward;
    "feed_forward_residual": Floats(feed_forward?.residual), PER_LAYER, part: Part::FeedForward;
    "attention_mask": Booleans(attention_mask?), &["sample", "query", "key"], part: Part::Mask;
];

impl ArraySpec {
    const fn new(name: &'static str, axes: &'static [&'static str], field: Field) -> Self {
        let (part, column, or_unknown) = (Part::Always, None, false);
        Self {
            name,
            axes,
            field,
            part,
            column,
            or_unknown,
        }
    }

    /// Its axes in a dump with these extents.
    pub(crate) fn axes(&self, dims: Dims) -> impl Iterator<Item = &'static str> {
        let axes = self.axes.iter().copied();
        axes.filter(move |&axis| axis != "class" || dims.logits != 1)
    }

    /// Its shape in a dump with these extents.
    pub(crate) fn shape(&self, dims: Dims) -> Vec<usize> {
        self.axes(dims).map(|axis| dims.extent(axis)).collect()
    }

    /// The values in `dump`; `None` if it has no such array.
    pub(crate) fn values<'a>(&self, dump: &'a AttentionDump) -> Option<Values<'a>> {
        Some(match &self.field {
            Field::Integers(read, _) => Values::Integers(read(dump)?),
            Field::Floats(read, _) => Values::Floats(read(dump)?),
            Field::Booleans(read, _) => Values::Booleans(read(dump)?),
        })
    }
}

/// The arrays of a dump with or without the optional parts.
pub(crate) fn arrays(feed_forward: bool, mask: bool) -> impl Iterator<Item = &'static ArraySpec> {
    ARRAYS.iter().filter(move |array| match array.part {
        Part::Always => true,
        Part::FeedForward => feed_forward,
        Part::Mask => mask,
    })
}

/// How many numbers the arrays of a dump hold, and the bytes that they take. In floating point, since dumps that could not
/// be written have a size too.
pub fn size(dims: Dims, masked: bool) -> (f64, f64) {
    let sizes = arrays(dims.d_ff > 0, masked).map(|array| {
        let extents = array.shape(dims).into_iter();
        let count: f64 = extents.map(|extent| extent as f64).product();
        let width = match array.field {
            Field::Integers(..) => 8.0,
            Field::Floats(..) => 4.0,
            Field::Booleans(..) => 1.0,
        };
        (count, count * width)
    });
    sizes.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1))
}

/// The axes of the arrays of a dump, as `meta` has them.
pub fn axes(dims: Dims, masked: bool) -> BTreeMap<String, Vec<String>> {
    arrays(dims.d_ff > 0, masked)
        .map(|array| {
            let axes = array.axes(dims).map(str::to_owned);
            (array.name.to_owned(), axes.collect())
        })
        .collect()
}
