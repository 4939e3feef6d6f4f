//! Kendall's tau-b between the attention that the words of a sample get and another importance of theirs (Jain and Wallace 2019,
//! "Attention is not Explanation", arXiv 1902.10186, algorithm 1).

use std::cmp::Ordering;

use headlight_architecture::mathematics::exp;

use super::info::{MeasureInfo, MeasureValue};
use super::subject::{MOST_SAMPLES, Subject};
use crate::removal::forward_without;
use headlight_experiment::Error;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{ForwardValues, Recording};
use headlight_experiment::metrics::predicted_class;

/// Between attention and gradients.
///
/// For each word t of a sample, with `e_t` the embedding of its token, and y the probability of the predicted class:
///
/// ```text
/// g_t = | e_t · ∂y/∂e_t |        the attention weights of all layers held fixed
/// τ   = tau-b(attention of the readout position, g)    mean over samples
/// ```
///
/// As in the paper the gradient does not flow through the attention weights, and the one-hot input of the word gives
/// its own row of the table: hence `e_t`. Here y is the log-odds of the predicted class, whose gradient is that of its
/// probability over y (1 - y). So the order is the same, and it does not drown where a model is sure and 1 - y rounds to 0.
pub(super) static KENDALL_GRADIENT: MeasureInfo = MeasureInfo::number(has_words, kendall_gradient);

fn kendall_gradient(subject: &mut Subject<'_>) -> Result<MeasureValue, Error> {
    let width = subject.config.model.d_model;
    let positions = subject.samples.positions();
    let mut taus = Vec::new();
    for chosen in subject.parts(MOST_SAMPLES) {
        let forward = subject.forward(&chosen, &[], Recording::Attention)?;
        let logits = forward.predictions.logits.chunks(forward.dims.logits);
        let slopes: Vec<f32> = logits.flat_map(slopes).collect();
        let (weights, samples) = (subject.weights, subject.samples);
        let frozen = &mut subject.frozen;
        let gradients = frozen.token_gradients(weights, samples, &chosen, &slopes, true)?;
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
            taus.extend(tau_b(&attention, &importance));
        }
    }
    Ok(mean(&taus).into())
}

/// The slopes of the log-odds of the predicted class by the logits: 1 for its own, and minus the share of each other class
/// among the others. One logit is the log-odds of class 1 itself.
fn slopes(logits: &[f32]) -> Vec<f32> {
    if logits.len() == 1 {
        return vec![1.0];
    }
    let mut others: Vec<f64> = logits.iter().map(|&logit| f64::from(logit)).collect();
    let predicted = predicted_class(&others) as usize;
    others[predicted] = f64::NEG_INFINITY;
    let shares = softmax(&others).into_iter();
    let mut slopes: Vec<f32> = shares.map(|share| -share as f32).collect();
    slopes[predicted] = 1.0;
    slopes
}

/// Between attention and leaving words out.
///
/// For each word t of a sample, with p the model's probabilities of the classes:
///
/// ```text
/// Δ_t = ½ Σ_k | p_k(without t) - p_k |        total variation distance
/// τ   = tau-b(attention of the readout position, Δ)    mean over samples
/// ```
///
/// A word is left out as `predict --explain` leaves it out: it becomes padding. In the paper, the words after it move up.
pub(super) static KENDALL_REMOVAL: MeasureInfo = MeasureInfo::number(has_words, kendall_removal);

fn kendall_removal(subject: &mut Subject<'_>) -> Result<MeasureValue, Error> {
    let positions = subject.samples.positions();
    let mut taus = Vec::new();
    for chosen in subject.parts(MOST_SAMPLES) {
        let whole = subject.forward(&chosen, &[], Recording::Attention)?;
        let words: Vec<Vec<usize>> = chosen.iter().map(|&sample| subject.words(sample)).collect();
        // `[sample][word]`
        let mut changes: Vec<Vec<f64>> = vec![Vec::new(); chosen.len()];
        for position in 0..positions {
            if !words.iter().any(|words| words.contains(&position)) {
                continue;
            }
            let without = forward_without(
                &mut subject.frozen,
                (subject.config, subject.weights),
                subject.samples,
                &chosen,
                &[position],
                Recording::Predictions,
            )?;
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
            taus.extend(tau_b(&attention, &changes[index]));
        }
    }
    Ok(mean(&taus).into())
}

/// The total variation distance of the probabilities that two lists of logits give.
fn distance(before: &[f32], after: &[f32]) -> f64 {
    let (before, after) = (probabilities(before), probabilities(after));
    let differences = before.iter().zip(&after).map(|(a, b)| (a - b).abs());
    0.5 * differences.sum::<f64>()
}

/// The probability of each class. One logit is the log-odds of class 1.
fn probabilities(logits: &[f32]) -> Vec<f64> {
    let logits = logits.iter().map(|&logit| f64::from(logit));
    match logits.len() {
        1 => softmax(&[0.0].into_iter().chain(logits).collect::<Vec<_>>()),
        _ => softmax(&logits.collect::<Vec<_>>()),
    }
}

/// The softmax, the same bytes on every machine.
fn softmax(logits: &[f64]) -> Vec<f64> {
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = logits.iter().map(|logit| exp(logit - most)).collect();
    let sum: f64 = parts.iter().sum();
    parts.into_iter().map(|part| part / sum).collect()
}

/// The mean over samples that have a correlation: those of two words or more, not all equally important.
fn mean(taus: &[f64]) -> Option<f64> {
    (!taus.is_empty()).then(|| taus.iter().sum::<f64>() / taus.len() as f64)
}

/// Samples have words to be put in an order.
fn has_words(config: &ExperimentConfig) -> Result<(), String> {
    if config.data.seq_len < 2 {
        return Err("compares the tokens of a sample; data.seq_len must be at least 2".to_owned());
    }
    Ok(())
}

impl Subject<'_> {
    /// The attention of the readout position, in the last layer and summed over heads, on some positions of the
    /// `index`-th sample of a pass. The order is that of the mean over heads.
    fn attention_on(
        &self,
        words: &[usize],
        forward: &ForwardValues,
        index: usize,
        sample: u32,
    ) -> Vec<f64> {
        let model = &self.config.model;
        let layer = model.n_layers - 1;
        let rows: Vec<&[f32]> = (0..model.n_heads)
            .map(|head| self.row(forward, index, sample, [layer, head]))
            .collect();
        let sum = |&word: &usize| rows.iter().map(|row| f64::from(row[word])).sum();
        words.iter().map(sum).collect()
    }
}

/// Kendall's tau-b: with P pairs in the same order in both lists, Q in opposite orders, and T and U that are tied in the first or
/// in the second list alone,
///
/// ```text
/// (P - Q) / sqrt((P + Q + T) (P + Q + U))
/// ```
///
/// `None` if one of the lists has only ties.
fn tau_b(first: &[f64], second: &[f64]) -> Option<f64> {
    let (mut same, mut opposite, mut tied_first, mut tied_second) = (0_u64, 0_u64, 0_u64, 0_u64);
    for later in 0..first.len() {
        for earlier in 0..later {
            let orders = [first, second].map(|list| list[later].total_cmp(&list[earlier]));
            match orders {
                [Ordering::Equal, Ordering::Equal] => {}
                [Ordering::Equal, _] => tied_first += 1,
                [_, Ordering::Equal] => tied_second += 1,
                [a, b] if a == b => same += 1,
                _ => opposite += 1,
            }
        }
    }
    let (ordered_first, ordered_second) = (
        (same + opposite + tied_second) as f64,
        (same + opposite + tied_first) as f64,
    );
    let scale = (ordered_first * ordered_second).sqrt();
    (scale > 0.0).then(|| (same as f64 - opposite as f64) / scale)
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

    /// `scipy.stats.kendalltau` of version 1.17, which computes tau-b.
    #[test]
    fn taus_are_scipys() {
        let close = |first: &[f64], second: &[f64], expected: f64| {
            let found = tau_b(first, second).unwrap_or(f64::NAN);
            assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
        };
        let first = [12.0, 2.0, 1.0, 12.0, 2.0];
        close(&first, &[1.0, 4.0, 7.0, 1.0, 0.0], -0.471_404_520_791_031_7);
        close(&first, &first, 1.0);
        close(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0], 2.0 / 3.0);
        close(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0], -1.0);
        close(&[1.0, 1.0, 2.0, 3.0], &[1.0, 2.0, 2.0, 3.0], 0.8);
        close(
            &[0.1, 0.1, 0.3, 0.2, 0.2, 0.9],
            &[5.0, 4.0, 4.0, 4.0, 1.0, 2.0],
            -0.480_384_461_415_261_5,
        );
    }

    #[test]
    fn lists_of_ties_have_no_tau() {
        assert_eq!(tau_b(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(tau_b(&[1.0, 2.0], &[1.0, 1.0]), None);
        assert_eq!(tau_b(&[1.0], &[1.0]), None);
        assert_eq!(tau_b(&[], &[]), None);
    }
}
