//! All randomness of Headlight but that of the generator `numpy`: `ChaCha8(seed, stream)`, on the host.
//!
//! The traits and the seeding are `rand`'s. Ranges, fractions and shuffles are written out below:
//! those of `rand` may give other values for a seed in any minor version, and Headlight promises the
//! same values for ever.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The purpose of random numbers. Each purpose has a stream of its own, so that drawing more for
/// one never shifts another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Initial weights.
    Weights = 0,
    /// The order of samples within each epoch.
    Shuffle = 1,
    /// Training samples of the `chacha` generator.
    Data = 2,
    /// Held-out samples.
    Split = 3,
    /// Tokens that a step leaves out.
    TokenDropout = 4,
    /// The samples of each fold.
    Fold = 5,
    /// Which training labels are wrong.
    LabelNoise = 6,
    /// Samples that a step draws anew.
    Fresh = 7,
    /// Tokens that a model of the next token appends to a prompt.
    Generation = 9,
    /// Samples of test sets.
    Tests = 10,
    /// Inputs that a model is asked about at random.
    Inputs = 11,
    /// Values that a step leaves out of a model, see [`dropout_numbers`](crate::dropout_numbers).
    Dropout = 12,
}

impl Stream {
    /// The stream's generator for `seed`: `ChaCha8` keyed with the seed as 8 little-endian bytes
    /// and 24 zero bytes, so that any other implementation can draw the same numbers.
    pub fn rng(self, seed: u64) -> ChaCha8Rng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(self as u64);
        rng
    }

    /// The same generator at one of its places, each of which has 2^40 32-bit numbers of its own: those of an epoch, a step or a
    /// sample. The most is a few for each position of a batch.
    pub(crate) fn rng_at(self, seed: u64, place: usize) -> ChaCha8Rng {
        let mut rng = self.rng(seed);
        rng.set_word_pos((place as u128) << 40);
        rng
    }

    /// The generator at a place behind a trait object. Crates that draw few numbers take this one, so that the program has the
    /// generator's code once: the page has little room.
    pub fn boxed_rng(self, seed: u64, place: usize) -> Box<dyn Rng> {
        Box::new(self.rng_at(seed, place))
    }

    /// Uniform whole numbers from the stream, each below a bound that may change from one to the next.
    pub fn numbers(self, seed: u64) -> impl FnMut(u32) -> u32 {
        let mut rng = self.rng(seed);
        move |bound| uniform_below(bound, || rng.next_u32())
    }
}

/// A uniform integer in `0..n` by masked rejection: 32-bit words, masked to the smallest
/// `2^k - 1` that is at least `n - 1`, redrawn while they are above `n - 1`. For `n = 1` nothing is
/// drawn.
///
/// This is what NumPy's legacy `randint` does for ranges below 2^32 - 1
/// (`buffered_bounded_masked_uint32` in `numpy/random/src/distributions/distributions.c`).
///
/// # Panics
/// When `n` is 0.
pub fn uniform_below(n: u32, mut next_word: impl FnMut() -> u32) -> u32 {
    assert!(n > 0, "an empty range has no number to draw");
    let max = n - 1;
    if max == 0 {
        return 0;
    }
    let mask = u32::MAX >> max.leading_zeros();
    loop {
        let word = next_word() & mask;
        if word <= max {
            return word;
        }
    }
}

/// The number that a share of uniform 32-bit numbers is below.
pub(crate) fn threshold(share: f64) -> u64 {
    (share * 4_294_967_296.0) as u64 // 2^32
}

/// A uniform number in `[0, 1)` with 53 random bits.
pub fn uniform_unit(rng: &mut (impl Rng + ?Sized)) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Fisher and Yates's shuffle (Durstenfeld's form, from the end).
pub(crate) fn shuffle<T>(items: &mut [T], rng: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        let chosen = uniform_below(last as u32 + 1, || rng.next_u32());
        items.swap(last, chosen as usize);
    }
}
