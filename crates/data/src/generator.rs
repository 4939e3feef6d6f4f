//! The generators of samples.

use headlight_schema::choices;

choices! {
    /// A generator of tokens.
    pub enum Generator {
        /// As `np.random.seed(seed); np.random.randint(1, vocab_size, size=(samples, seq_len))`; from 0 without `[CLS]`.
        Numpy = "numpy",
        /// From `ChaCha8(seed)`; can set the share of positives.
        Chacha = "chacha",
        /// Sentences of the grammar that the rule names, from `ChaCha8(seed)`.
        Sentences = "sentences",
        /// Every possible sample, in an order from `ChaCha8(seed)`: the first `samples` are for training, the next `held_out`
        /// are held out.
        All = "all",
    }
}
