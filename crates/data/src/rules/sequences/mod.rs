//! Rules that give a label to each position. They see samples without `[CLS]`; the others' trait follows from theirs.

mod double_histogram;
mod dyck;
mod histogram;
mod ranking;
mod repeat;
mod reverse;
mod sort;

use headlight_schema::{InvalidValue, require};
use rand::Rng;

pub use double_histogram::DoubleHistogram;
pub use dyck::Dyck;
pub use histogram::Histogram;
pub use ranking::Ranking;
pub use repeat::Repeat;
pub use reverse::Reverse;
pub use sort::Sort;

use super::rule::Rule;
use crate::cls::ClsPlace;
use crate::generator::Generator;
use crate::random::uniform_below;
use crate::sampler::Sampler;
use crate::task::{IGNORED, Task};

/// What is known of a rule with a label per position, whatever the sample.
pub struct SequenceFacts {
    /// The rule in words.
    words: &'static str,
    /// The question of each position.
    question: &'static str,
    /// The positions that decide a label, in words.
    deciding: &'static str,
    /// The number of classes.
    n_classes: fn(Sampler) -> usize,
    /// The names of the classes, if the rule gives them.
    classes: &'static [&'static str],
    /// What the labels are about.
    task: Task,
    /// The generator without which there are no samples for this rule.
    generator: Option<Generator>,
    /// The token after the end of samples that are shorter than `seq_len`, and the one that ends each, if there are any.
    padding: Option<u32>,
    end: Option<u32>,
}

/// A rule whose classes are the tokens.
const OF_TOKENS: SequenceFacts = SequenceFacts {
    words: "",
    question: "",
    deciding: "",
    n_classes: |samples| samples.vocab_size as usize,
    classes: &[],
    task: Task::TokenClassification,
    generator: None,
    padding: None,
    end: None,
};

/// A rule whose classes are counts of tokens.
const OF_COUNTS: SequenceFacts = SequenceFacts {
    n_classes: |samples| samples.seq_len + 1,
    ..OF_TOKENS
};

/// What a rule with a label per position can tell. Positions and tokens are those of a sample without `[CLS]`, padding and end.
pub trait SequenceRule {
    /// What is known of the rule.
    fn facts(&self) -> SequenceFacts;

    /// The class of each position, or [`IGNORED`].
    fn labels(&self, tokens: &[u32], cls: ClsPlace) -> Vec<u32>;

    /// The positions that decide the label of one.
    fn deciding(&self, tokens: &[u32], position: usize) -> Vec<usize>;

    /// A sample: by default, tokens drawn uniformly, then the end, if there is one. With padding, each length is as likely as the
    /// others.
    fn draw(&self, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        let SequenceFacts { padding, end, .. } = self.facts();
        let is_content = |token: &u32| Some(*token) != padding && Some(*token) != end;
        let tokens: Vec<u32> = sampler.tokens().filter(is_content).collect();
        let most = sampler.seq_len - usize::from(end.is_some());
        let length = match padding {
            Some(_) => 1 + uniform_below(most as u32, || rng.next_u32()) as usize,
            None => most,
        };
        sampler.sample(|row| {
            let whole = row.len() + sampler.seq_len;
            for _ in 0..length {
                let index = uniform_below(tokens.len() as u32, || rng.next_u32());
                row.push(tokens[index as usize]);
            }
            row.extend(end);
            row.resize(whole, padding.unwrap_or_default());
        })
    }

    /// Checks the rule's numbers: by default, the tokens of padding and end.
    ///
    /// # Errors
    /// Names the first one that does not fit.
    fn check(&self, samples: Sampler) -> Result<(), InvalidValue> {
        let SequenceFacts { padding, end, .. } = self.facts();
        let mut others = 0;
        for (key, token) in [("rule.padding", padding), ("rule.end", end)] {
            if let Some(token) = token {
                samples.check_token(key, token)?;
                others += 1;
            }
        }
        require(
            padding.is_none() || padding != end,
            "rule.end",
            || "one token is padding and end; name two tokens",
        )?;
        require(
            samples.n_tokens() > others,
            "vocab_size",
            || "no token is left beside padding and end; raise vocab_size",
        )?;
        require(
            samples.seq_len >= 2 || end.is_none(),
            "seq_len",
            || "a sample needs a token before its end; set a seq_len of 2 or more",
        )
    }
}

impl<T: SequenceRule> Rule for T {
    fn task(&self) -> Task {
        self.facts().task
    }

    fn label_for(&self, tokens: &[u32], cls: ClsPlace, n_classes: usize) -> u32 {
        let labels = self.labels_for(tokens, cls, n_classes);
        let counted = labels.into_iter().find(|&label| label != IGNORED);
        counted.unwrap_or(0)
    }

    fn labels_for(&self, tokens: &[u32], cls: ClsPlace, _n_classes: usize) -> Vec<u32> {
        let of_content = self.labels(content(&self.facts(), tokens, cls), cls);
        let mut labels = vec![IGNORED; tokens.len()];
        let first = usize::from(cls == ClsPlace::First);
        labels[first..][..of_content.len()].copy_from_slice(&of_content);
        if self.facts().task == Task::NextToken && first == 1 {
            labels[0] = tokens.get(1).copied().unwrap_or(IGNORED);
        }
        labels
    }

    fn deciding_at(&self, tokens: &[u32], cls: ClsPlace, query: usize) -> Vec<usize> {
        let first = usize::from(cls == ClsPlace::First);
        let content = content(&self.facts(), tokens, cls);
        let position = query.checked_sub(first);
        let Some(position) = position.filter(|&position| position < content.len()) else {
            return Vec::new();
        };
        let found = self.deciding(content, position);
        found.into_iter().map(|index| index + first).collect()
    }

    fn validate(&self, samples: Sampler) -> Result<(), InvalidValue> {
        self.check(samples)
    }

    fn describe(&self) -> String {
        self.facts().words.to_owned()
    }

    fn deciding_place(&self) -> String {
        self.facts().deciding.to_owned()
    }

    fn question(&self) -> String {
        self.facts().question.to_owned()
    }

    fn n_classes(&self, samples: Sampler) -> Option<usize> {
        Some((self.facts().n_classes)(samples))
    }

    fn classes(&self) -> &'static [&'static str] {
        self.facts().classes
    }

    fn generator(&self) -> Option<Generator> {
        let facts = self.facts();
        // Other generators know no padding and no end: they would draw these like any token.
        let has_marks = facts.padding.is_some() || facts.end.is_some();
        facts.generator.or(has_marks.then_some(Generator::Chacha))
    }

    fn draw_any(&self, _held_out: bool, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        self.draw(sampler, rng)
    }
}

/// The tokens of a sample that are neither `[CLS]` nor padding nor the end.
fn content<'a>(facts: &SequenceFacts, tokens: &'a [u32], cls: ClsPlace) -> &'a [u32] {
    let tokens = cls.without(tokens);
    let is_over = |&token: &u32| Some(token) == facts.padding || Some(token) == facts.end;
    let length = tokens.iter().position(is_over);
    &tokens[..length.unwrap_or(tokens.len())]
}

/// How often a token occurs.
fn count_of(token: u32, tokens: &[u32]) -> usize {
    tokens.iter().filter(|&&other| other == token).count()
}
