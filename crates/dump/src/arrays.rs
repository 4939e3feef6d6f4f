//! The arrays of a dump: those of a forward pass, and those beside them. Every format iterates over [`Member`].

use std::collections::BTreeMap;

use headlight_fused::{Array, Arrays, Dims};

use crate::Meta;

/// What a model computed for some samples.
///
/// All arrays are row-major; their lengths follow from [`dims`](Self::dims). Methods panic where there is no such sample, layer, head or
/// query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttentionDump {
    /// The extent of each axis.
    pub dims: Dims,
    /// Where the dump comes from.
    pub meta: Meta,
    /// Token ids; `[CLS]` is 0, if samples have it. `[sample, position]`
    pub tokens: Vec<i64>,
    /// The class of each sample; NaN if it is unknown. `[sample]`, or with a label per position `[sample, position]`, NaN where none
    /// counts.
    pub labels: Vec<f32>,
    /// Log-odds of class 1, with the axes of `labels`; of more than two classes, the logit of each, with `class` as last axis.
    pub logits: Vec<f32>,
    /// Probability of class 1, with the axes of `labels`; of more than two classes, that of each, with `class` as last axis.
    pub probabilities: Vec<f32>,
    /// What the model computed on the way.
    pub arrays: Arrays,
    /// Which keys each query may attend to, in all layers and heads; `None` if every query may attend
    /// to all keys. `[sample, query, key]`
    pub attention_mask: Option<Vec<bool>>,
}

/// One array of a dump, as every format sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Member {
    Tokens,
    Labels,
    Logits,
    Probabilities,
    Computed(Array),
    Mask,
}

/// The values of an array.
pub(crate) enum Values<'a> {
    Integers(&'a [i64]),
    Floats(&'a [f32]),
    Booleans(&'a [bool]),
}

impl Member {
    /// All arrays, in the order of the npz and JSON formats.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let first = [
            Self::Tokens,
            Self::Labels,
            Self::Logits,
            Self::Probabilities,
        ];
        let computed = Array::ALL.map(Self::Computed);
        first.into_iter().chain(computed).chain([Self::Mask])
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Labels => "labels",
            Self::Logits => "logits",
            Self::Probabilities => "probabilities",
            Self::Computed(array) => array.name(),
            Self::Mask => "attention_mask",
        }
    }

    /// Its axes in a dump with these extents.
    pub(crate) fn axes(self, dims: Dims) -> &'static [&'static str] {
        match self {
            Self::Tokens => &["sample", "position"],
            Self::Labels => dims.axes_of_labels(),
            Self::Logits | Self::Probabilities => dims.axes_of_logits(),
            Self::Computed(array) => array.axes(),
            Self::Mask => &["sample", "query", "key"],
        }
    }

    /// Its shape in a dump with these extents.
    pub(crate) fn shape(self, dims: Dims) -> Vec<usize> {
        dims.shape(self.axes(dims))
    }

    /// The values in `dump`; `None` if it has no such array.
    pub(crate) fn values(self, dump: &AttentionDump) -> Option<Values<'_>> {
        Some(match self {
            Self::Tokens => Values::Integers(&dump.tokens),
            Self::Labels => Values::Floats(&dump.labels),
            Self::Logits => Values::Floats(&dump.logits),
            Self::Probabilities => Values::Floats(&dump.probabilities),
            Self::Computed(array) => {
                let values = Values::Floats(&dump.arrays[array]);
                array.exists(dump.dims).then_some(values)?
            }
            Self::Mask => Values::Booleans(dump.attention_mask.as_ref()?),
        })
    }

    /// Where the values of an array of floats belong in `dump`.
    pub(crate) fn floats(self, dump: &mut AttentionDump) -> Option<&mut Vec<f32>> {
        match self {
            Self::Labels => Some(&mut dump.labels),
            Self::Logits => Some(&mut dump.logits),
            Self::Probabilities => Some(&mut dump.probabilities),
            Self::Computed(array) => Some(&mut dump.arrays[array]),
            Self::Tokens | Self::Mask => None,
        }
    }

    /// The bytes of one of its numbers.
    fn width(self) -> f64 {
        match self {
            Self::Tokens => 8.0,
            Self::Mask => 1.0,
            _ => 4.0,
        }
    }
}

/// The arrays of a new dump.
fn members(dims: Dims, masked: bool) -> impl Iterator<Item = Member> {
    Member::all().filter(move |member| match member {
        Member::Computed(array) => array.exists(dims),
        Member::Mask => masked,
        _ => true,
    })
}

/// How many numbers the arrays of a dump hold, and the bytes that they take. In floating point, since dumps that could not
/// be written have a size too.
pub fn size(dims: Dims, masked: bool) -> (f64, f64) {
    let sizes = members(dims, masked).map(|member| {
        let extents = member.shape(dims).into_iter();
        let count: f64 = extents.map(|extent| extent as f64).product();
        (count, count * member.width())
    });
    sizes.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1))
}

/// The axes of the arrays of a dump, as `meta` has them.
pub fn axes(dims: Dims, masked: bool) -> BTreeMap<String, Vec<String>> {
    members(dims, masked)
        .map(|member| {
            let axes = member.axes(dims).iter().copied().map(str::to_owned);
            (member.name().to_owned(), axes.collect())
        })
        .collect()
}
