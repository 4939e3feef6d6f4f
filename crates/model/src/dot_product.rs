//! Scaled dot-product attention, stage by stage:
//! `softmax(Q K^T / sqrt(d_head)) V` (Vaswani et al. 2017, equation 1).

use burn::tensor::activation::softmax;
use burn::tensor::{Bool, Tensor};

/// Scores: products of queries and keys, times `factor`.
///
/// # Shapes
/// - query: `[batch, head, query, d_head]`
/// - key: `[batch, head, key, d_head]`
/// - output: `[batch, head, query, key]`
pub fn attention_scores(query: Tensor<4>, key: Tensor<4>, factor: f64) -> Tensor<4> {
    // Scaling the queries is cheaper: they are [query, d_head], the product is [query, key].
    (query * factor).matmul(key.transpose())
}

/// The natural logarithm of the number of keys that each query may look at, as a factor of its scores; 0 for a query that
/// may look at none (Chiang and Cholak 2022).
///
/// # Shapes
/// - mask: true where a query may look; `[batch, head, query, key]`
/// - output: `[batch, head, query, 1]`
pub fn log_length(mask: Tensor<4, Bool>) -> Tensor<4> {
    let keys = mask.int().sum_dim(3).float(); // [batch, head, query, 1]
    keys.clamp_min(1.0).log()
}

/// Weights: the softmax of scores over the keys that the mask allows. The mask is true where a query may look.
///
/// Each row sums to 1, and masked weights are 0. If a query may look at no key, its whole row is 0, not NaN.
///
/// # Shapes
/// - scores, mask, output: `[batch, head, query, key]`; batch and head of the mask may be 1
pub fn attention_weights(scores: Tensor<4>, mask: Option<Tensor<4, Bool>>) -> Tensor<4> {
    let Some(mask) = mask else {
        return softmax(scores, 3);
    };
    let blocked = mask.bool_not().expand(scores.dims()); // [batch, head, query, key]
    // The fill value is finite, since the softmax of a row of minus infinity would be 0 / 0.
    let remaining = scores.mask_fill(blocked.clone(), f32::MIN);
    softmax(remaining, 3).mask_fill(blocked, 0.0)
}
