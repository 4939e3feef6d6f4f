//! Samples, and what a model predicts for them.

/// Samples to train on or to predict.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// Row-major tokens. `[sample, position]`
    pub tokens: &'a [u32],
    /// The class of each sample; if the classifier reads every position, that of each position, or [`IGNORED`].
    /// `[sample]` or `[sample, position]`
    pub labels: &'a [u32],
    /// How much the loss of each label counts in training, in the labels' shape; `None` if all count alike.
    pub weights: Option<&'a [f32]>,
}

impl<'a> Samples<'a> {
    /// Samples that all count alike.
    pub fn new(tokens: &'a [u32], labels: &'a [u32]) -> Self {
        Self {
            tokens,
            labels,
            weights: None,
        }
    }
}

/// The label of a position that does not count. `headlight-data` has the same number: neither crate depends on the other.
pub const IGNORED: u32 = u32::MAX;

/// What a model predicts for some samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchPredictions {
    /// Log-odds of class 1; with several logits, that of each class. `[sample, answer, logit]`
    pub logits: Vec<f32>,
    /// Probability of class 1; with several logits, that of each class. `[sample, answer, logit]`
    pub probabilities: Vec<f32>,
    /// Cross-entropy with the label, in nats; 0 where none counts. `[sample, answer]`
    pub losses: Vec<f32>,
    /// Attention of the readout position in the last layer, after the softmax, `[sample, head, key]`; if every position is
    /// read, that of each, `[sample, head, query, key]`.
    pub attention: Vec<f32>,
}

impl BatchPredictions {
    fn arrays(&mut self) -> [&mut Vec<f32>; 4] {
        let Self {
            logits,
            probabilities,
            losses,
            attention,
        } = self;
        [logits, probabilities, losses, attention]
    }

    /// Removes all samples, and keeps the allocated memory.
    pub(crate) fn clear(&mut self) {
        for values in self.arrays() {
            values.clear();
        }
    }

    /// Moves the predictions of others behind its own.
    pub(crate) fn append(&mut self, others: &mut Self) {
        for (values, others) in self.arrays().into_iter().zip(others.arrays()) {
            values.append(others);
        }
    }
}
