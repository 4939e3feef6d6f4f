//! Places of a forward pass whose vectors can be replaced, and their names.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::architecture::Architecture;
use crate::arrays::Array;
use crate::hook::HookPoint;

/// A place of the forward pass that has a vector for each position. Layers count from 0.
///
/// As text it is `embeddings`, `context.L`, `head.L.H`, `residual.L` or `output.L`, with layer `L` and head `H`.
///
/// ```
/// use headlight_fused::PatchSite;
///
/// assert_eq!("head.0.1".parse(), Ok(PatchSite::Head(0, 1)));
/// assert_eq!(PatchSite::Residual(2).to_string(), "residual.2");
/// assert!("head.0".parse::<PatchSite>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchSite {
    /// The first layer's input.
    Embeddings,
    /// A layer's context, head after head.
    Context(usize),
    /// The context of a head of a layer.
    Head(usize, usize),
    /// A layer's residual, before the norm.
    Residual(usize),
    /// A layer's output.
    Output(usize),
}

impl fmt::Display for PatchSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.array().name();
        match self {
            Self::Embeddings => f.write_str(name),
            Self::Head(layer, head) => write!(f, "head.{layer}.{head}"),
            Self::Context(layer) | Self::Residual(layer) | Self::Output(layer) => {
                write!(f, "{name}.{layer}")
            }
        }
    }
}

impl FromStr for PatchSite {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let place = match text.split('.').collect::<Vec<_>>()[..] {
            ["embeddings"] => Some(Self::Embeddings),
            ["embeddings", _] => None,
            [array, layer] => layer.parse().ok().and_then(|at| Self::named(array, at)),
            ["head", layer, head] => {
                let numbers = layer.parse().ok().zip(head.parse().ok());
                numbers.map(|(layer, head)| Self::Head(layer, head))
            }
            _ => None,
        };
        place.ok_or_else(|| {
            format!(
                "there is no place `{text}`; the places are embeddings, context.L, head.L.H, residual.L and output.L, with \
                 layer L and head H, both from 0"
            )
        })
    }
}

impl PatchSite {
    /// The arrays whose vectors can be replaced.
    pub const ARRAYS: [Array; 4] = [
        Array::Embeddings,
        Array::Context,
        Array::Residual,
        Array::Output,
    ];

    /// The place of an array by its name, in a layer; only the first layer has embeddings.
    pub fn named(array: &str, layer: usize) -> Option<Self> {
        let is_named = |known: &Array| known.name() == array;
        let array = Self::ARRAYS.into_iter().find(is_named)?;
        Some(match array {
            Array::Embeddings => Self::Embeddings,
            Array::Context => Self::Context(layer),
            Array::Residual => Self::Residual(layer),
            _ => Self::Output(layer),
        })
    }

    /// The array that has its vectors.
    pub fn array(self) -> Array {
        match self {
            Self::Embeddings => Array::Embeddings,
            Self::Context(_) | Self::Head(..) => Array::Context,
            Self::Residual(_) => Array::Residual,
            Self::Output(_) => Array::Output,
        }
    }

    /// The layer; the first one for its input.
    pub fn layer(self) -> usize {
        match self {
            Self::Embeddings => 0,
            Self::Context(at) | Self::Head(at, _) | Self::Residual(at) | Self::Output(at) => at,
        }
    }

    /// Its numbers in a row.
    pub(crate) fn columns(self, architecture: &Architecture) -> Range<usize> {
        let d_head = architecture.model.d_head();
        match self {
            Self::Head(_, head) => head * d_head..(head + 1) * d_head,
            Self::Context(_) => 0..architecture.heads_width(),
            _ => 0..architecture.model.d_model,
        }
    }

    pub(crate) fn point(self) -> HookPoint {
        HookPoint::Vectors(self.array(), self.layer())
    }
}
