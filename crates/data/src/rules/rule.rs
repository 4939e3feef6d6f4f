//! What every rule can tell.

use std::ops::Range;

use headlight_schema::{InvalidValue, require};
use rand::Rng;

use super::automaton::Automaton;
use crate::cls::ClsPlace;
use crate::corpora::Corpus;
use crate::generator::Generator;
use crate::sampler::{Sampler, swap_tokens};
use crate::task::Task;

/// Samples that are drawn before the search for one of a class gives up. Of the most classes, each has 15 on average.
const MAX_DRAWS: usize = 1_000_000;

/// A sample of a class, or that there is none.
pub(super) type Drawn = Option<Vec<u32>>;

/// What a rule can tell of samples, `[CLS]` among their tokens. The methods with a default suit a rule that is true or
/// false of a sample whose tokens are numbers: class 1 if it is true, else class 0.
pub trait Rule {
    /// An automaton that finds the class token by token; `None` if it would have too many states, or if some samples have no class.
    fn automaton(&self, _cls: ClsPlace, _n_classes: usize) -> Option<Automaton<'_>> {
        None
    }

    /// The class of a sample with `[CLS]` in this place, when there are `n_classes`. A rule without an automaton has its own way to
    /// find it.
    fn label_for(&self, tokens: &[u32], cls: ClsPlace, n_classes: usize) -> u32 {
        let automaton = self.automaton(cls, n_classes);
        automaton.map_or(0, |automaton| automaton.read(tokens))
    }

    /// What samples have labels for.
    fn task(&self) -> Task {
        Task::Classification
    }

    /// The labels of a sample: one, or one for each position, `[CLS]`'s among them, which is
    /// [`IGNORED`](crate::IGNORED) where none counts.
    fn labels_for(&self, tokens: &[u32], cls: ClsPlace, n_classes: usize) -> Vec<u32> {
        vec![self.label_for(tokens, cls, n_classes)]
    }

    /// The positions that decide the label of a position; where samples have one label, those that decide that.
    fn deciding_at(&self, tokens: &[u32], cls: ClsPlace, _query: usize) -> Vec<usize> {
        self.deciding_positions(tokens, cls)
    }

    /// The positions that decide a sample's label, for measuring how much attention they get.
    ///
    /// For a rule about positions they are the same in every sample. For a rule about tokens they are
    /// where its tokens are, and a sample may have none; so it is where each token may decide.
    fn deciding_positions(&self, _tokens: &[u32], _cls: ClsPlace) -> Vec<usize> {
        self.fixed_positions().unwrap_or_default()
    }

    /// The positions that decide the label of every sample, whatever its tokens; `None` where they
    /// depend on the tokens.
    fn fixed_positions(&self) -> Option<Vec<usize>> {
        None
    }

    /// A sample drawn uniformly from all samples of a class that is possible, when there are `n_classes`, unless the rule says how
    /// else. By default samples are drawn until one is of the class, and `None` if the search gives up; where classes are tokens, two
    /// tokens of one sample are exchanged, and so their roles.
    fn draw_of_class(
        &self,
        class: u32,
        n_classes: usize,
        sampler: Sampler,
        rng: &mut dyn Rng,
    ) -> Drawn {
        if self.classes_are_tokens() {
            let row = self.draw_any(false, sampler, rng);
            let label = self.label_for(&row, sampler.cls, n_classes);
            return Some(swap_tokens(row, label, class));
        }
        let mut drawn = (0..MAX_DRAWS).map(|_| sampler.uniform_sample(|| rng.next_u32()));
        drawn.find(|row| self.label_for(row, sampler.cls, n_classes) == class)
    }

    /// Checks the rule's numbers against the vocabulary, the length and the place of `[CLS]`.
    ///
    /// # Errors
    /// Names the first number that does not fit.
    fn validate(&self, _samples: Sampler) -> Result<(), InvalidValue> {
        Ok(())
    }

    /// The rule in words, as reports print it.
    fn describe(&self) -> String;

    /// The [`deciding_positions`](Self::deciding_positions) in words.
    fn deciding_place(&self) -> String;

    /// The question that a classifier of such samples answers, as the title of a report.
    fn question(&self) -> String {
        format!("Is it true that {}?", self.describe())
    }

    /// The most classes that such samples can have.
    fn most_classes(&self, samples: Sampler) -> usize {
        self.n_classes(samples).unwrap_or(2)
    }

    /// The classes that such samples can have, when there are `n_classes`.
    fn possible_classes(&self, samples: Sampler, n_classes: usize) -> Range<u32> {
        if self.classes_are_tokens() {
            return samples.tokens();
        }
        0..n_classes.min(self.most_classes(samples)) as u32
    }

    /// The number of classes, if the rule sets it.
    fn n_classes(&self, samples: Sampler) -> Option<usize> {
        let vocab_size = samples.vocab_size as usize;
        self.classes_are_tokens().then_some(vocab_size)
    }

    /// Whether a sample's class is a token.
    fn classes_are_tokens(&self) -> bool {
        false
    }

    /// Whether the rule gives a sample a label.
    fn has_label(&self, _tokens: &[u32], _cls: ClsPlace) -> bool {
        true
    }

    /// The grammar of the samples, if they are sentences.
    fn corpus(&self) -> Option<Corpus> {
        None
    }

    /// The position of the word that the label is about, if the rule asks about a word.
    fn asked_position(&self, tokens: &[u32]) -> Option<usize> {
        self.corpus()?.asked_position(tokens)
    }

    /// The vocabulary of the samples; empty if their tokens are numbers.
    fn words(&self) -> &'static [&'static str] {
        self.corpus().map_or(&[], Corpus::words)
    }

    /// The names of the classes, if the rule gives them.
    fn classes(&self) -> &'static [&'static str] {
        self.corpus().map_or(&[], |corpus| corpus.facts().classes)
    }

    /// The length of the longest sample, if the rule sets it.
    fn seq_len(&self) -> Option<usize> {
        Some(self.corpus()?.facts().seq_len)
    }

    /// The generator without which there are no samples for this rule; `None` if any generator of tokens makes them.
    fn generator(&self) -> Option<Generator> {
        self.corpus().map(|_| Generator::Sentences)
    }

    /// A sample of the rule's generator, for the held-out split or for the training split; the generator `chacha` draws it where the
    /// config asks for no class.
    fn draw_any(&self, _held_out: bool, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        sampler.uniform_sample(|| rng.next_u32())
    }
}

/// The positions that hold one of these tokens.
pub(super) fn positions_of(wanted: &[u32], tokens: &[u32]) -> Vec<usize> {
    let holds = |&position: &usize| wanted.contains(&tokens[position]);
    (0..tokens.len()).filter(holds).collect()
}

/// Positions, as messages name them.
pub(super) fn listed_positions(positions: &[usize]) -> String {
    let texts: Vec<String> = positions.iter().map(usize::to_string).collect();
    match &texts[..] {
        [one] => format!("position {one}"),
        [others @ .., last] => format!("positions {} and {last}", others.join(", ")),
        [] => "no positions".to_owned(),
    }
}

/// Checks that positions exist and that each is named once.
pub(super) fn check_positions(positions: &[usize], samples: Sampler) -> Result<(), InvalidValue> {
    for (index, &position) in positions.iter().enumerate() {
        samples.check_position("rule.positions", position)?;
        require(
            !positions[..index].contains(&position),
            "rule.positions",
            || format!("position {position} is named twice"),
        )?;
    }
    Ok(())
}
