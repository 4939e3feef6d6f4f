//! Labels that are wrong on purpose (Zhang et al. 2017, "Understanding deep learning requires rethinking generalization",
//! section 2.1: partially corrupted labels).

use rand::Rng;

use crate::config::DatasetConfig;
use crate::random::{Stream, uniform_below};

/// How many 32-bit numbers of the stream are reserved for each sample.
const NUMBERS_PER_SAMPLE: u128 = 1 << 10;

impl DatasetConfig {
    /// The label that a training sample is trained with: the true one or, with probability
    /// [`label_noise`](Self::label_noise), one of the other classes, each as likely. It depends on the seed and on `sample`,
    /// the sample's index, alone.
    pub(crate) fn noisy(&self, label: u32, sample: usize) -> u32 {
        if self.label_noise == 0.0 {
            return label;
        }
        let mut rng = Stream::LabelNoise.rng(self.seed);
        rng.set_word_pos(sample as u128 * NUMBERS_PER_SAMPLE);
        let below = (self.label_noise * 4_294_967_296.0) as u64; // 2^32
        if u64::from(rng.next_u32()) >= below {
            return label;
        }
        let other = uniform_below(self.n_classes as u32 - 1, || rng.next_u32());
        if other < label { other } else { other + 1 }
    }
}
