//! Whether larger tokens get larger scores, in a model of one block of attention with one head (`one_attention.rs`).
//!
//! ```text
//! mean over query tokens q and positions p of tau-b(t, score(q, p, t))    over the tokens t
//! ```

use super::info::MeasureInfo;
use super::kendall::{Mean, tau_b};
use super::one_attention::{self, OneAttention};
use super::subject::Subject;
use super::value::Measured;
use crate::error::Error;

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 3,
    range: [-1.0, 1.0],
    is_per_head: false,
    check: one_attention::check,
    value,
};

#[allow(clippy::unnecessary_wraps)] // As all measures.
fn value(subject: &mut Subject<'_>) -> Result<Measured, Error> {
    let model = OneAttention::new(subject);
    let mut mean = Mean::default();
    for rows in &model.scores {
        for scores in rows {
            let tokens: Vec<f64> = (0..scores.len()).map(|token| token as f64).collect();
            mean.add(tau_b(&tokens, scores));
        }
    }
    Ok(mean.value().into())
}
