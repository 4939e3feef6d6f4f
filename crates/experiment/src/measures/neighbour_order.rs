//! How often the larger of two tokens that follow one another has the larger score, in a model of one block of attention with one head
//! (`one_attention.rs`).
//!
//! ```text
//! mean over query tokens q, positions p and tokens t of [score(q, p, t + 1) > score(q, p, t)]
//! ```

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
    let rows = model.scores.iter().flatten();
    let pairs = rows.flat_map(|scores| scores.windows(2).map(|pair| pair[1] > pair[0]));
    let (in_order, count) = pairs.fold((0_usize, 0_usize), |(in_order, count), is_in_order| {
        (in_order + usize::from(is_in_order), count + 1)
    });
    Ok((count > 0).then(|| in_order as f64 / count as f64).into())
}
