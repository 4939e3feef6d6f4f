//! How weights follow from scores.

use burn::tensor::{Bool, Tensor};
use headlight_architecture::Weighting;

use crate::attention_weights;

/// The weights.
///
/// # Shapes
/// - scores, mask, output: `[batch, head, query, key]`; batch and head of the mask may be 1
pub(crate) fn weights(
    weighting: Weighting,
    scores: Tensor<4>,
    mask: Option<Tensor<4, Bool>>,
) -> Tensor<4> {
    match weighting {
        Weighting::Softmax => attention_weights(scores, mask),
        Weighting::Rate(rate) => {
            let softmax = attention_weights(scores, mask.clone());
            on_allowed(softmax * rate + (1.0 - rate), mask)
        }
        Weighting::Scores => on_allowed(scores, mask),
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
