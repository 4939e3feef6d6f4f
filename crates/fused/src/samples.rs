//! Samples, and what a model predicts for them.

use alloc::vec::Vec;

/// Samples to train on or to predict.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// Row-major tokens. `[sample, position]`
    pub tokens: &'a [u32],
    /// The class of each sample. `[sample]`
    pub labels: &'a [u32],
}

/// What a model predicts for some samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predictions {
    /// Log-odds of class 1; of several classes, the logit of each. `[sample, logit]`
    pub logits: Vec<f32>,
    /// Probability of class 1; of several classes, that of each. `[sample, logit]`
    pub probabilities: Vec<f32>,
    /// Cross-entropy with the sample's label, in nats. `[sample]`
    pub losses: Vec<f32>,
    /// Attention of `[CLS]` in the last block, after the softmax. `[sample, head, key]`
    pub attention: Vec<f32>,
}

impl Predictions {
    /// Removes all samples, and keeps the allocated memory.
    pub(crate) fn clear(&mut self) {
        for values in [
            &mut self.logits,
            &mut self.probabilities,
            &mut self.losses,
            &mut self.attention,
        ] {
            values.clear();
        }
    }

    /// Moves the predictions of others behind its own.
    pub(crate) fn append(&mut self, others: &mut Self) {
        self.logits.append(&mut others.logits);
        self.probabilities.append(&mut others.probabilities);
        self.losses.append(&mut others.losses);
        self.attention.append(&mut others.attention);
    }
}
