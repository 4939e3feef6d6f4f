//! Kendall's tau-b between the attention that the words of a sample get and another importance of theirs.

use std::cmp::Ordering;

use super::subject::Subject;
use crate::config::ExperimentConfig;
use crate::fused::Forward;

/// Samples have words to be put in an order.
pub(super) fn check(config: &ExperimentConfig) -> Result<(), String> {
    if config.data.seq_len < 2 {
        return Err("compares the tokens of a sample; data.seq_len must be at least 2".to_owned());
    }
    Ok(())
}

/// A mean over samples, of those that have a correlation: of two words or more, not all equally important.
#[derive(Default)]
pub(super) struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    pub(super) fn add(&mut self, tau: Option<f64>) {
        if let Some(tau) = tau {
            self.sum += tau;
            self.count += 1;
        }
    }

    pub(super) fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

impl Subject<'_> {
    /// The attention of the position that is read, in the last block and summed over heads, on some positions of the
    /// `index`-th sample of a pass. The order is that of the mean over heads.
    pub(super) fn attention_on(
        &self,
        words: &[usize],
        forward: &Forward,
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
pub(super) fn tau_b(first: &[f64], second: &[f64]) -> Option<f64> {
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
mod tests {
    use super::*;

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

    #[test]
    fn samples_without_a_tau_do_not_count() {
        let mut mean = Mean::default();
        assert_eq!(mean.value(), None);
        for tau in [Some(1.0), None, Some(0.0)] {
            mean.add(tau);
        }
        assert_eq!(mean.value(), Some(0.5));
    }
}
