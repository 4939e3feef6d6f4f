//! What training leaves out at random: words (Iyyer et al. 2015, "Deep Unordered Composition Rivals Syntactic Methods for
//! Text Classification", section 3.2: word dropout), and values of the model.

use rand::Rng;

use crate::cls::{CLS, ClsPlace};
use crate::dataset::Dataset;
use crate::random::{Stream, threshold};

/// Leaves tokens out of the samples of a step. Which ones depends on the seed, the step and the place in the batch alone.
#[derive(Clone, Debug)]
pub struct TokenDropout {
    seed: u64,
    /// A token whose random number is below this is left out.
    below: u64,
    padding_token: u32,
    batch: Dataset,
    all: Vec<u32>,
}

impl TokenDropout {
    /// Leaves out each token with probability `share`, except `[CLS]`. `padding_token`, which no token attends to, takes
    /// its place.
    pub fn new(share: f64, padding_token: u32, seed: u64) -> Self {
        Self {
            seed,
            below: threshold(share),
            padding_token,
            batch: Dataset::empty(0, ClsPlace::First),
            all: Vec::new(),
        }
    }

    /// The samples of a batch for a step, which counts from 0, and all of their indices.
    pub fn apply(&mut self, train: &Dataset, step: usize, batch: &[u32]) -> (&Dataset, &[u32]) {
        let mut rng = Stream::TokenDropout.rng_at(self.seed, step);
        self.batch = train.without_samples();
        let has_cls = train.cls().is_present();
        let mut tokens = Vec::with_capacity(train.positions());
        for &sample in batch {
            let sample = sample as usize;
            tokens.clear();
            tokens.extend(train.tokens(sample).iter().map(|&token| {
                let is_out = u64::from(rng.next_u32()) < self.below;
                if is_out && !(has_cls && token == CLS) {
                    self.padding_token
                } else {
                    token
                }
            }));
            self.batch.push_of(train, sample, &tokens);
        }
        self.all = (0..batch.len() as u32).collect();
        (&self.batch, &self.all)
    }
}

/// The random numbers of dropout, for the first values of a sample's place in a step.
///
/// They are the low and the high half of each word of `ChaCha8`, keyed as [`Stream::rng`] says. Of its four words beside key
/// and constants, the first counts blocks and the second is the step; the third is [`Stream::Dropout`] plus 256 times the
/// place, and the last is the sample's place in the batch.
pub fn dropout_numbers(
    seed: u64,
    step: u32,
    sample: u32,
    place: u32,
    count: usize,
) -> impl Iterator<Item = u16> {
    let mut rng = Stream::Dropout.rng(seed);
    rng.set_stream(u64::from(sample) << 32 | u64::from(place) << 8 | Stream::Dropout as u64);
    rng.set_word_pos(u128::from(step) << 36);
    let halves = move |_| {
        let word = rng.next_u32();
        [word as u16, (word >> 16) as u16]
    };
    (0..count.div_ceil(2)).flat_map(halves).take(count)
}
