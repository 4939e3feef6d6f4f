//! Kendall's tau-b between attention and gradients (Jain and Wallace 2019, "Attention is not Explanation", arXiv
//! 1902.10186, algorithm 1).
//!
//! For each word t of a sample, with `e_t` the embedding of its token, and y the probability of the predicted class:
//!
//! ```text
//! g_t = | e_t · ∂y/∂e_t |        the attention weights of all blocks held fixed
//! τ   = tau-b(attention of the position that is read, g)    mean over samples
//! ```
//!
//! As in the paper the gradient does not flow through the attention weights, and the one-hot input of the word gives
//! its own row of the table: hence `e_t`. Here y is the log-odds of the predicted class, whose gradient is that of its
//! probability over y (1 - y). So the order is the same, and it does not drown where a model is sure and 1 - y rounds to 0.

use super::info::MeasureInfo;
use super::kendall::{self, Mean, tau_b};
use super::subject::{MOST_SAMPLES, Subject};
use super::value::Measured;
use crate::error::Error;
use crate::fused::Recorded;
use crate::metrics::predicted_class;

use headlight_architecture::mathematics::exp;

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 3,
    range: [-1.0, 1.0],
    is_per_head: false,
    check: kendall::check,
    value,
};

fn value(subject: &mut Subject<'_>) -> Result<Measured, Error> {
    let width = subject.config.model.d_model;
    let positions = subject.samples.positions();
    let mut mean = Mean::default();
    for chosen in subject.parts(MOST_SAMPLES) {
        let forward = subject.forward(&chosen, &[], Recorded::Attention)?;
        let logits = forward.predictions.logits.chunks(forward.dims.logits);
        let slopes: Vec<f32> = logits.flat_map(slopes).collect();
        let gradients = subject.frozen.token_gradients(
            subject.weights,
            subject.samples,
            &chosen,
            &slopes,
            true,
        )?;
        let gradients = gradients.chunks(positions * width);
        for (index, (&sample, gradient)) in chosen.iter().zip(gradients).enumerate() {
            let words = subject.words(sample);
            let tokens = subject.samples.tokens(sample as usize);
            let importance = |&word: &usize| {
                let embedding = subject.embedding(tokens[word]).iter();
                let pairs = embedding.zip(&gradient[word * width..][..width]);
                let products = pairs.map(|(&e, &g)| f64::from(e) * f64::from(g));
                products.sum::<f64>().abs()
            };
            let importance: Vec<f64> = words.iter().map(importance).collect();
            let attention = subject.attention_on(&words, &forward, index, sample);
            mean.add(tau_b(&attention, &importance));
        }
    }
    Ok(mean.value().into())
}

/// The slopes of the log-odds of the predicted class by the logits: 1 for its own, and minus the share of each other class
/// among the others. One logit is the log-odds of class 1 itself.
fn slopes(logits: &[f32]) -> Vec<f32> {
    if logits.len() == 1 {
        return vec![1.0];
    }
    let wide: Vec<f64> = logits.iter().map(|&logit| f64::from(logit)).collect();
    let predicted = predicted_class(&wide) as usize;
    let others = || {
        wide.iter()
            .enumerate()
            .filter(|(class, _)| *class != predicted)
    };
    let most = others()
        .map(|(_, logit)| *logit)
        .fold(f64::NEG_INFINITY, f64::max);
    // Below this, `exp` is 0 in all but name.
    let part = |logit: f64| {
        if logit - most > -700.0 {
            exp(logit - most)
        } else {
            0.0
        }
    };
    let sum: f64 = others().map(|(_, logit)| part(*logit)).sum();
    let slope = |(class, &logit): (usize, &f64)| {
        if class == predicted {
            1.0
        } else {
            (-part(logit) / sum) as f32
        }
    };
    wide.iter().enumerate().map(slope).collect()
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // Exact by construction.
mod tests {
    use super::*;

    /// `log(p / (1 - p))` of the first class is `z_0 - log(e^z_1 + e^z_2)`; with equal others each has a slope of -1/2.
    #[test]
    fn slopes_are_those_of_the_log_odds() {
        assert_eq!(slopes(&[-3.0]), [1.0]);
        assert_eq!(slopes(&[2.0, 1.0]), [1.0, -1.0]);
        assert_eq!(slopes(&[0.5, 0.5, 3.0]), [-0.5, -0.5, 1.0]);
        assert_eq!(slopes(&[0.0, 2000.0, 3000.0]), [0.0, -1.0, 1.0]);
        let found = slopes(&[5.0, 1.0, 2.0]);
        let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
        for (found, expected) in found.iter().zip([1.0, -logistic(-1.0), -logistic(1.0)]) {
            assert!((f64::from(*found) - expected).abs() < 1e-7);
        }
    }
}
