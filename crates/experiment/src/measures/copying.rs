//! How often the value of a token is largest for the class of that token, in a model of one block of attention with one head
//! (`one_attention.rs`). Class `k` is the `k`-th token.

use super::info::MeasureInfo;
use super::one_attention::{self, OneAttention};
use super::subject::Subject;
use super::value::Measured;
use crate::error::Error;

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 3,
    range: [0.0, 1.0],
    is_per_head: false,
    check: one_attention::check,
    value,
};

#[allow(clippy::unnecessary_wraps)] // As all measures.
fn value(subject: &mut Subject<'_>) -> Result<Measured, Error> {
    let model = OneAttention::new(subject);
    let (mut right, mut count) = (0_usize, 0_usize);
    for (tokens, rows) in model.tokens.iter().zip(&model.moved) {
        for (token, logits) in tokens.clone().zip(rows) {
            let largest = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
            right += usize::from(largest == Some(token as usize));
            count += 1;
        }
    }
    Ok(Measured::Number(right as f64 / count as f64))
}
