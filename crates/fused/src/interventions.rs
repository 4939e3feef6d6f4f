//! Interventions: changes of what a forward pass computes.

use std::ops::Range;

use crate::architecture::Architecture;
use crate::arrays::Array;
use crate::hook::HookPoint;
use crate::lanes::{LANES, Lanes, ZERO};
use crate::parameters::padded;
use crate::patch_site::PatchSite;

/// A change of what a forward pass computes, for all of its samples.
#[derive(Clone, Debug, PartialEq)]
pub enum Intervention {
    /// A head gives nothing: its context is 0.
    AblateHead {
        /// The layer, from 0.
        layer: usize,
        /// The head, from 0.
        head: usize,
    },
    /// No query of a layer looks at a position.
    MaskKey {
        /// The layer, from 0.
        layer: usize,
        /// The position.
        position: usize,
    },
    /// A layer's output is its input.
    AblateLayer {
        /// The layer, from 0.
        layer: usize,
    },
    /// A query's attention weights are these.
    SetAttention {
        /// The layer, from 0.
        layer: usize,
        /// The head, from 0.
        head: usize,
        /// The position of the query.
        query: usize,
        /// Its weights, one per key.
        weights: Vec<f32>,
    },
    /// The vector of a position is this one, for example that of another sample (patching).
    Patch {
        /// Where in the pass.
        site: PatchSite,
        /// The position.
        position: usize,
        /// The vector `[d_model]`, of a context `[n_heads * d_head]`, of a head `[d_head]`; or one for each sample, one after the other.
        vector: Vec<f32>,
    },
}

impl Intervention {
    /// Checks that an architecture has what the intervention changes, in a pass of so many samples.
    ///
    /// # Errors
    /// Names what is missing, or how many numbers are needed.
    pub fn check(&self, architecture: &Architecture, samples: usize) -> Result<(), String> {
        let (model, positions) = (&architecture.model, architecture.inputs.positions);
        let (layer, head, position, numbers) = match self {
            Self::AblateHead { layer, head } => (*layer, Some(*head), None, None),
            Self::MaskKey { layer, position } => (*layer, None, Some(*position), None),
            Self::AblateLayer { layer } => (*layer, None, None, None),
            Self::SetAttention {
                layer,
                head,
                query,
                weights,
            } => {
                let numbers = Some((weights.len(), positions));
                (*layer, Some(*head), Some(*query), numbers)
            }
            Self::Patch {
                site,
                position,
                vector,
            } => {
                let (given, one) = (vector.len(), site.columns(architecture).len());
                let needed = if given == one * samples { given } else { one };
                let head = match site {
                    PatchSite::Head(_, head) => Some(*head),
                    _ => None,
                };
                (site.layer(), head, Some(*position), Some((given, needed)))
            }
        };
        for (part, index, count) in [
            ("layer", Some(layer), model.n_layers),
            ("head", head, model.n_heads),
            ("position", position, positions),
        ] {
            if let Some(index) = index.filter(|&index| index >= count) {
                let there = match count {
                    1 => format!("the model has only {part} 0"),
                    _ => format!("{part}s go from 0 to {}", count - 1),
                };
                return Err(format!("there is no {part} {index}; {there}"));
            }
        }
        match numbers {
            Some((given, needed)) if given != needed => Err(format!(
                "{given} numbers were given; {needed} are needed here"
            )),
            _ => Ok(()),
        }
    }

    /// Changes the values of a point if the intervention concerns it. `stream` is the present layer's input, `chunk` the
    /// samples of the pass, as indices among all samples.
    pub(crate) fn change(
        &self,
        point: HookPoint,
        values: &mut [Lanes],
        stream: &[Lanes],
        chunk: Range<usize>,
        architecture: &Architecture,
    ) {
        let (positions, d_head) = (architecture.inputs.positions, architecture.model.d_head());
        match (self, point) {
            (&Self::AblateHead { layer, head }, HookPoint::Vectors(Array::Context, at))
                if layer == at =>
            {
                for row in values.chunks_exact_mut(padded(architecture.heads_width())) {
                    row[head * d_head..(head + 1) * d_head].fill(ZERO);
                }
            }
            (&Self::MaskKey { layer, position }, HookPoint::Mask(at)) if layer == at => {
                for row in values.chunks_exact_mut(positions) {
                    row[position] = ZERO;
                }
            }
            (&Self::AblateLayer { layer }, HookPoint::Vectors(Array::Output, at))
                if layer == at =>
            {
                values.copy_from_slice(stream);
            }
            (
                Self::SetAttention {
                    layer,
                    head,
                    query,
                    weights,
                },
                HookPoint::Pairs(Array::Weights, at, of),
            ) if (*layer, *head) == (at, of) => {
                let row = &mut values[query * positions..][..positions];
                for (value, &weight) in row.iter_mut().zip(weights) {
                    *value = [weight; LANES];
                }
            }
            (
                Self::Patch {
                    site,
                    position,
                    vector,
                },
                point,
            ) if site.point() == point => {
                let columns = site.columns(architecture);
                let count = columns.len();
                let width = values.len() / positions;
                let row = &mut values[position * width..][columns];
                for lane in 0..LANES {
                    // The last sample fills the other lanes.
                    let sample = (chunk.start + lane).min(chunk.end - 1);
                    let numbers = vector.chunks_exact(count).nth(sample).unwrap_or(vector);
                    for (value, &number) in row.iter_mut().zip(numbers) {
                        value[lane] = number;
                    }
                }
            }
            _ => {}
        }
    }
}
