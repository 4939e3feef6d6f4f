//! Labels that are wrong on purpose (Zhang et al. 2017, "Understanding deep learning requires rethinking generalization",
//! section 2.1: partially corrupted labels).

use std::borrow::Cow;

use rand::Rng;

use crate::config::DatasetConfig;
use crate::dataset::Dataset;
use crate::random::{Stream, threshold, uniform_below};

/// How many 32-bit numbers of the stream are reserved for each sample, and for each further label of one. The stream has 2^68, so
/// that label 256 follows label 0: samples of so many labels are fewer than 2^26.
const NUMBERS_PER_SAMPLE: u128 = 1 << 10;
const NUMBERS_PER_LABEL: u128 = 1 << 60;
const LABELS_APART: usize = 256;
const NUMBERS_PER_LABELS_APART: u128 = 1 << 36;

impl DatasetConfig {
    /// The label that a training sample is trained with: the true one or, with probability
    /// [`label_noise`](Self::label_noise), one of the other classes, each as likely. It depends on the seed, on the sample's
    /// index and on the position of the label among the sample's alone.
    pub(crate) fn noisy_label(&self, label: u32, sample: usize, position: usize) -> u32 {
        if self.label_noise == 0.0 {
            return label;
        }
        let mut rng = Stream::LabelNoise.rng(self.seed);
        rng.set_word_pos(
            sample as u128 * NUMBERS_PER_SAMPLE
                + (position % LABELS_APART) as u128 * NUMBERS_PER_LABEL
                + (position / LABELS_APART) as u128 * NUMBERS_PER_LABELS_APART,
        );
        self.noisy_label_with(label, &mut rng)
    }

    /// The labels of a training sample as its rule says them, which noise may have changed; without a rule, those that it has.
    pub fn labels_without_noise<'a>(&self, train: &'a Dataset, sample: usize) -> Cow<'a, [u32]> {
        match &self.rule {
            Some(rule) if self.label_noise > 0.0 => {
                Cow::Owned(rule.labels_for(train.tokens(sample), self.cls, self.n_classes))
            }
            _ => Cow::Borrowed(train.labels_of(sample)),
        }
    }

    /// Does what [`noisy_label`](Self::noisy_label) does, with random numbers of the caller.
    pub(crate) fn noisy_label_with(&self, label: u32, rng: &mut impl Rng) -> u32 {
        if self.label_noise == 0.0 {
            return label;
        }
        if u64::from(rng.next_u32()) >= threshold(self.label_noise) {
            return label;
        }
        let other = uniform_below(self.n_classes as u32 - 1, || rng.next_u32());
        if other < label { other } else { other + 1 }
    }
}
