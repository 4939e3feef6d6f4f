//! What every rule can tell.

use std::ops::Range;

use headlight_schema::InvalidValue;
use rand::Rng;

use super::reader::Automaton;
use crate::cls::ClsPlace;
use crate::generator::Generator;
use crate::sampler::Sampler;
use crate::task::Task;

/// Samples that are drawn before the search for one of a class gives up. Of the most classes, each has 15 on average.
const DRAWS: usize = 1_000_000;

/// A sample of a class, or that there is none.
pub(super) type Drawn = Option<Vec<u32>>;

/// What a rule can tell of samples, `[CLS]` among their tokens. The methods with a default suit a rule that is true or
/// false of a sample whose tokens are numbers: class 1 if it is true, else class 0.
pub trait Rule {
    /// The class of a sample with `[CLS]` in this place, when there are `n_classes`.
    fn label_for(&self, tokens: &[u32], cls: ClsPlace, n_classes: usize) -> u32;

    /// The same, token by token; `None` for a rule whose states would be too many, and for one that gives some samples no class.
    fn reader(&self, _cls: ClsPlace, _n_classes: usize) -> Option<Automaton<'_>> {
        None
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
        self.label_positions(tokens, cls)
    }

    /// The positions that decide a sample's label, for measuring how much attention they get.
    ///
    /// For a rule about positions they are the same in every sample. For a rule about tokens they are
    /// where its tokens are, and a sample may have none; so it is where each token may decide.
    fn label_positions(&self, _tokens: &[u32], _cls: ClsPlace) -> Vec<usize> {
        self.fixed_positions().unwrap_or_default()
    }

    /// The positions that decide the label of every sample, whatever its tokens; `None` where they
    /// depend on the tokens.
    fn fixed_positions(&self) -> Option<Vec<usize>> {
        None
    }

    /// A sample drawn uniformly from all samples of a class that is possible, when there are `n_classes`, unless the rule says how
    /// else. By default samples are drawn until one is of the class; `None` if the search gives up.
    fn draw(&self, class: u32, n_classes: usize, sampler: Sampler, rng: &mut dyn Rng) -> Drawn {
        let mut drawn = (0..DRAWS).map(|_| sampler.any(|| rng.next_u32()));
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

    /// The [`label_positions`](Self::label_positions) in words.
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
        0..n_classes.min(self.most_classes(samples)) as u32
    }

    /// The number of classes, if the rule sets it.
    fn n_classes(&self, _samples: Sampler) -> Option<usize> {
        None
    }

    /// Whether the rule gives a sample a label.
    fn knows(&self, _tokens: &[u32], _cls: ClsPlace) -> bool {
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

    /// A sample of the rule's generator, for the held-out split or for the training split; the generator `chacha` draws it where the
    /// config asks for no class.
    fn compose(&self, _held_out: bool, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        sampler.any(|| rng.next_u32())
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
    for (place, &position) in positions.iter().enumerate() {
        samples.check_position("rule.positions", position)?;
        if positions[..place].contains(&position) {
            let message = format!("position {position} is named twice");
            return Err(InvalidValue::new("rule.positions", message));
        }
    }
    Ok(())
}
