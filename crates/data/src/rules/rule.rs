//! What every rule can tell.

use headlight_keys::InvalidValue;
use rand::Rng;

use crate::generator::Generator;
use crate::sampler::Sampler;

/// What a rule can tell of samples, `[CLS]` among their tokens. The methods with a default suit a rule that is true or
/// false of a sample whose tokens are numbers: class 1 if it is true, else class 0.
pub trait Rule {
    /// The class of a sample, when there are `n_classes`.
    fn label_for(&self, tokens: &[u32], n_classes: usize) -> u32;

    /// The positions that decide a sample's label, for measuring how much attention they get.
    ///
    /// For a rule about positions they are the same in every sample. For a rule about tokens they are
    /// where its tokens are, and a sample may have none.
    fn label_positions(&self, tokens: &[u32]) -> Vec<usize>;

    /// The positions that decide the label of every sample, whatever its tokens; `None` where they
    /// depend on the tokens.
    fn fixed_positions(&self) -> Option<Vec<usize>> {
        None
    }

    /// A sample drawn uniformly from all samples of class 1, or from all of class 0, when there are two classes.
    fn draw(&self, label: bool, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32>;

    /// Checks the rule's numbers against the vocabulary, the length and the place of `[CLS]`.
    ///
    /// # Errors
    /// Names the first number that does not fit.
    fn validate(&self, samples: Sampler) -> Result<(), InvalidValue>;

    /// The rule in words, as reports print it.
    fn describe(&self) -> String;

    /// The [`label_positions`](Self::label_positions) in words.
    fn deciding_place(&self) -> String;

    /// The question that a classifier of such samples answers, as the title of a report.
    fn question(&self) -> String {
        format!("Is it true that {}?", self.describe())
    }

    /// The most classes that samples of this length can have.
    fn most_classes(&self, _seq_len: usize) -> usize {
        2
    }

    /// The number of classes, if the rule sets it.
    fn n_classes(&self) -> Option<usize> {
        None
    }

    /// Whether the rule gives a sample a label.
    fn knows(&self, _tokens: &[u32]) -> bool {
        true
    }

    /// The position of the word that the label is about, if the rule asks about a word.
    fn asked_position(&self, _tokens: &[u32]) -> Option<usize> {
        None
    }

    /// The vocabulary of the samples; empty if their tokens are numbers.
    fn words(&self) -> &'static [&'static str] {
        &[]
    }

    /// The names of the classes, if the rule gives them.
    fn classes(&self) -> &'static [&'static str] {
        &[]
    }

    /// The length of the longest sample, if the rule sets it.
    fn seq_len(&self) -> Option<usize> {
        None
    }

    /// The generator without which there are no samples for this rule; `None` if any generator of tokens makes them.
    fn generator(&self) -> Option<Generator> {
        None
    }

    /// A sample of this generator, for the held-out split or for the training split.
    fn compose(&self, _held_out: bool, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        sampler.any(|| rng.next_u32())
    }
}

/// The positions that hold one of these tokens.
pub(super) fn positions_of(wanted: &[u32], tokens: &[u32]) -> Vec<usize> {
    let holds = |&position: &usize| wanted.contains(&tokens[position]);
    (0..tokens.len()).filter(holds).collect()
}
