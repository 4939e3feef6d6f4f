//! From logits to probabilities, classes and losses. Two classes have one logit, the log-odds of class 1, unless
//! `model.logits` asks for one each; more classes have one each.

/// The probability of class 1, or that of each class if there are several logits. `[logit]`
pub fn probabilities(logits: &[f64]) -> Vec<f64> {
    if let &[logit] = logits {
        return vec![logistic(logit)];
    }
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = logits.iter().map(|logit| (logit - most).exp()).collect();
    let sum: f64 = parts.iter().sum();
    parts.into_iter().map(|part| part / sum).collect()
}

fn logistic(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

/// The probabilities of many samples as dumps have them: computed in float64. `n_logits`: of each sample.
pub fn rounded_probabilities(logits: &[f32], n_logits: usize) -> Vec<f32> {
    let wide = logits.iter().map(|&logit| f64::from(logit));
    if n_logits == 1 {
        return wide.map(|logit| logistic(logit) as f32).collect();
    }
    let wide: Vec<f64> = wide.collect();
    let each = wide.chunks(n_logits).flat_map(probabilities);
    each.map(|probability| probability as f32).collect()
}

/// The class that the logits choose: the most probable one, and the first of equals.
pub fn predicted_class<T: Copy + Into<f64> + PartialOrd>(logits: &[T]) -> u32 {
    if let &[logit] = logits {
        return u32::from(logit.into() > 0.0);
    }
    let mut best = 0;
    for (class, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = class;
        }
    }
    best as u32
}

/// `-log p(label)`, from logits, without overflow: of one logit `max(z, 0) - z y + log(1 + exp(-|z|))`, of several
/// `log(sum exp(z)) - z[label]`.
///
/// # Panics
/// When there is no such class.
pub fn cross_entropy(logits: &[f64], label: u32) -> f64 {
    if let &[logit] = logits {
        return logit.max(0.0) - logit * f64::from(label) + (-logit.abs()).exp().ln_1p();
    }
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logits.iter().map(|logit| (logit - most).exp()).sum();
    most + sum.ln() - logits[label as usize]
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // Exact by construction.
mod tests {
    use super::*;

    #[test]
    fn extreme_logits_do_not_overflow() {
        assert!(cross_entropy(&[1e4], 1).abs() < 1e-300);
        assert_eq!(cross_entropy(&[1e4], 0), 1e4);
        assert_eq!(cross_entropy(&[1e4, -1e4, 0.0], 0), 0.0);
        assert_eq!(cross_entropy(&[1e4, -1e4, 0.0], 1), 2e4);
        assert_eq!(probabilities(&[1e4, -1e4, 0.0]), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn two_classes_are_the_same_with_one_logit_or_two() {
        for logit in [-3.5, -0.1, 0.0, 2.0] {
            let [one, two] = [&[logit][..], &[0.0, logit]].map(probabilities);
            assert!((one[0] - two[1]).abs() < 1e-15);
            for label in [0, 1] {
                let [one, two] = [&[logit][..], &[0.0, logit]].map(|z| cross_entropy(z, label));
                assert!((one - two).abs() < 1e-15);
            }
            assert_eq!(predicted_class(&[logit]), predicted_class(&[0.0, logit]));
        }
    }
}
