//! How weights follow from scores.

use burn::tensor::{Bool, Tensor};

use crate::attention_weights;

/// How weights follow from scores, over the keys that a query may look at. All other weights are 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weighting {
    /// The softmax.
    Softmax,
    /// This share of the softmax, plus the rest to 1 on each key. A row need not sum to 1.
    Rate(f64),
    /// The scores themselves.
    Scores,
}

impl Weighting {
    /// The weights.
    ///
    /// # Shapes
    /// - scores, mask, output: `[batch, head, query, key]`; batch and head of the mask may be 1
    pub fn weights(self, scores: Tensor<4>, mask: Option<Tensor<4, Bool>>) -> Tensor<4> {
        match self {
            Self::Softmax => attention_weights(scores, mask),
            Self::Rate(rate) => {
                let softmax = attention_weights(scores, mask.clone());
                on_allowed(softmax * rate + (1.0 - rate), mask)
            }
            Self::Scores => on_allowed(scores, mask),
        }
    }
}

/// 0 in place of what the mask forbids.
fn on_allowed(weights: Tensor<4>, mask: Option<Tensor<4, Bool>>) -> Tensor<4> {
    match mask {
        Some(mask) => {
            let blocked = mask.bool_not().expand(weights.dims()); // [batch, head, query, key]
            weights.mask_fill(blocked, 0.0)
        }
        None => weights,
    }
}
