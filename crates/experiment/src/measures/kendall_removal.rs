//! Kendall's tau-b between attention and leaving words out (Jain and Wallace 2019, "Attention is not Explanation", arXiv
//! 1902.10186, algorithm 1).
//!
//! For each word t of a sample, with p the model's probabilities of the classes:
//!
//! ```text
//! Δ_t = ½ Σ_k | p_k(without t) - p_k |        total variation distance
//! τ   = tau-b(attention of the position that is read, Δ)    mean over samples
//! ```
//!
//! A word is left out as `predict --explain` leaves it out: no query of any block may look at it. It keeps its place, so no model
//! needs a token for padding. In the paper, the words after it move up.

use headlight_architecture::mathematics::exp;

use super::info::MeasureInfo;
use super::kendall::{self, Mean, tau_b};
use super::subject::{MOST_SAMPLES, Subject};
use super::value::Measured;
use crate::error::Error;
use crate::fused::{Intervention, Recorded};

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 3,
    range: [-1.0, 1.0],
    is_per_head: false,
    check: kendall::check,
    value,
};

fn value(subject: &mut Subject<'_>) -> Result<Measured, Error> {
    let positions = subject.samples.positions();
    let mut mean = Mean::default();
    for chosen in subject.parts(MOST_SAMPLES) {
        let whole = subject.forward(&chosen, &[], Recorded::Attention)?;
        let words: Vec<Vec<usize>> = chosen.iter().map(|&sample| subject.words(sample)).collect();
        // `[sample][word]`
        let mut changes: Vec<Vec<f64>> = vec![Vec::new(); chosen.len()];
        for position in 0..positions {
            if !words.iter().any(|words| words.contains(&position)) {
                continue;
            }
            let remove = |layer| Intervention::RemoveKey { layer, position };
            let remove: Vec<Intervention> =
                (0..subject.config.model.n_layers).map(remove).collect();
            let without = subject.forward(&chosen, &remove, Recorded::Predictions)?;
            let each = without.dims.logits;
            let logits = whole.predictions.logits.chunks(each);
            let logits = logits.zip(without.predictions.logits.chunks(each));
            for ((words, changes), (before, after)) in words.iter().zip(&mut changes).zip(logits) {
                if words.contains(&position) {
                    changes.push(distance(before, after));
                }
            }
        }
        for (index, &sample) in chosen.iter().enumerate() {
            let attention = subject.attention_on(&words[index], &whole, index, sample);
            mean.add(tau_b(&attention, &changes[index]));
        }
    }
    Ok(mean.value().into())
}

/// The total variation distance of the probabilities that two lists of logits give.
fn distance(before: &[f32], after: &[f32]) -> f64 {
    let (before, after) = (probabilities(before), probabilities(after));
    let differences = before.iter().zip(&after).map(|(a, b)| (a - b).abs());
    0.5 * differences.sum::<f64>()
}

/// The probability of each class, the same bytes on every machine. One logit is the log-odds of class 1.
fn probabilities(logits: &[f32]) -> Vec<f64> {
    let logits: Vec<f64> = match logits {
        &[logit] => vec![0.0, f64::from(logit)],
        logits => logits.iter().map(|&logit| f64::from(logit)).collect(),
    };
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let part = |logit: &f64| {
        if logit - most > -700.0 {
            exp(logit - most)
        } else {
            0.0
        }
    };
    let parts: Vec<f64> = logits.iter().map(part).collect();
    let sum: f64 = parts.iter().sum();
    parts.into_iter().map(|part| part / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: with probabilities of 1/2 and 3/4 of class 1, the distance is 1/4.
    #[test]
    fn distances_are_known_ones() {
        let log = 3.0_f32.ln();
        for (before, after, expected) in [
            (&[0.0][..], &[log][..], 0.25),
            (&[0.0], &[0.0], 0.0),
            (&[0.0], &[2000.0], 0.5),
            (&[0.0, 0.0], &[log, 0.0], 0.25),
            (&[1.0, 1.0, 1.0, 1.0], &[500.0, 0.0, 0.0, 0.0], 0.75),
        ] {
            let found = distance(before, after);
            assert!((found - expected).abs() < 1e-7, "{found}, not {expected}");
        }
    }
}
