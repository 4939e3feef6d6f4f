//! Label rules: what decides a sample's class. All that Headlight knows of a rule is in this file.

use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::cls::ClsPlace;
use crate::corpora::Corpus;
use crate::invalid::InvalidValue;
use crate::sampler::Sampler;

/// A rule that decides a sample's class from its tokens. Positions count `[CLS]`, which is
/// at position 0 or at the end.
///
/// All rules but [`Count`](Self::Count) and [`Sentence`](Self::Sentence) are true or false of a sample: it is of class 1 if the rule is true of it,
/// else of class 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LabelRule {
    /// `token` is at `position`: the notebook's rule, with token 42 and position 3.
    TokenAtPosition {
        /// The token that the rule looks for.
        token: u32,
        /// Where it must be.
        position: usize,
    },
    /// `token` is anywhere.
    TokenAnywhere {
        /// The token that the rule looks for.
        token: u32,
    },
    /// `first` is somewhere before `second`.
    TokenBeforeToken {
        /// The token that must come earlier.
        first: u32,
        /// The token that must come later.
        second: u32,
    },
    /// The same token is at both positions.
    EqualPositions {
        /// One position.
        first: usize,
        /// The other.
        second: usize,
    },
    /// How often `token` occurs is the sample's class. The last class is "so often or more".
    Count {
        /// The token that the rule counts.
        token: u32,
    },
    /// What a sentence says of the word after its marker. A sentence that the grammar cannot read is of class 0.
    Sentence {
        /// The grammar.
        corpus: Corpus,
    },
}

impl LabelRule {
    /// The class of a sample, `[CLS]` among its tokens, when there are `n_classes`.
    pub fn label_for(&self, tokens: &[u32], n_classes: usize) -> u8 {
        u8::from(match *self {
            Self::Sentence { corpus } => {
                return corpus
                    .read_tokens(tokens)
                    .map_or(0, |reading| reading.class);
            }
            Self::Count { token } => {
                let found = tokens.iter().filter(|&&found| found == token).count();
                return found.min(n_classes - 1) as u8;
            }
            Self::TokenAtPosition { token, position } => tokens[position] == token,
            Self::TokenAnywhere { token } => tokens.contains(&token),
            Self::TokenBeforeToken { first, second } => tokens
                .iter()
                .position(|&token| token == first)
                .is_some_and(|found| tokens[found + 1..].contains(&second)),
            Self::EqualPositions { first, second } => tokens[first] == tokens[second],
        })
    }

    /// Whether the rule gives a sample a label: a grammar can read its own sentences alone.
    pub fn knows(&self, tokens: &[u32]) -> bool {
        match *self {
            Self::Sentence { corpus } => corpus.read_tokens(tokens).is_some(),
            _ => true,
        }
    }

    /// The positions that decide a sample's label, for measuring how much attention they get.
    ///
    /// For a rule about positions they are the same in every sample. For a rule about tokens they are
    /// where its tokens are, and a sample may have none.
    pub fn label_positions(&self, tokens: &[u32]) -> Vec<usize> {
        let holding = |wanted: &[u32]| {
            (0..tokens.len())
                .filter(|&position| wanted.contains(&tokens[position]))
                .collect()
        };
        match *self {
            Self::TokenAnywhere { token } | Self::Count { token } => holding(&[token]),
            Self::TokenBeforeToken { first, second } => holding(&[first, second]),
            Self::TokenAtPosition { .. } | Self::EqualPositions { .. } => {
                self.fixed_positions().unwrap_or_default()
            }
            Self::Sentence { corpus } => corpus
                .read_tokens(tokens)
                .map_or_else(Vec::new, |reading| reading.deciding),
        }
    }

    /// The position of the word that the label is about, if the rule asks about a word.
    pub fn asked_position(&self, tokens: &[u32]) -> Option<usize> {
        match self {
            Self::Sentence { corpus } => corpus.asked_position(tokens),
            _ => None,
        }
    }

    /// The positions that decide the label of every sample, whatever its tokens; `None` where they
    /// depend on the tokens.
    pub fn fixed_positions(&self) -> Option<Vec<usize>> {
        match *self {
            Self::TokenAtPosition { position, .. } => Some(vec![position]),
            Self::EqualPositions { first, second } => Some(vec![first, second]),
            Self::TokenAnywhere { .. }
            | Self::TokenBeforeToken { .. }
            | Self::Count { .. }
            | Self::Sentence { .. } => None,
        }
    }

    /// A sample drawn uniformly from all samples of class 1, or from all of class 0, when there are two classes. Sentences
    /// are drawn by their grammar.
    pub(crate) fn draw(&self, label: bool, sampler: Sampler, rng: &mut impl Rng) -> Vec<u32> {
        match *self {
            Self::TokenAtPosition { token, position } => {
                let mut row = sampler.any(|| rng.next_u32());
                row[position] = if label {
                    token
                } else {
                    sampler.other_than(token, rng)
                };
                row
            }
            Self::EqualPositions { first, second } => {
                let mut row = sampler.any(|| rng.next_u32());
                row[second] = if label {
                    row[first]
                } else {
                    sampler.other_than(row[first], rng)
                };
                row
            }
            Self::TokenAnywhere { token } | Self::Count { token } => {
                sampler.with_subsequence(&[token], label, rng)
            }
            Self::TokenBeforeToken { first, second } => {
                sampler.with_subsequence(&[first, second], label, rng)
            }
            Self::Sentence { .. } => sampler.any(|| rng.next_u32()),
        }
    }

    /// The most classes that samples of this length can have.
    pub fn most_classes(&self, seq_len: usize) -> usize {
        match self {
            Self::Count { .. } => seq_len.saturating_add(1),
            Self::Sentence { corpus } => corpus.classes().len(),
            _ => 2,
        }
    }

    /// Checks the rule's numbers against the vocabulary and the length.
    ///
    /// # Errors
    /// Names the first number that does not fit.
    pub fn validate(
        &self,
        vocab_size: u32,
        seq_len: usize,
        cls: ClsPlace,
    ) -> Result<(), InvalidValue> {
        let token = |key, token| {
            if (1..vocab_size).contains(&token) {
                return Ok(());
            }
            let last = vocab_size - 1;
            Err(InvalidValue::new(
                key,
                format!(
                    "token {token} is outside the vocabulary; samples hold tokens 1 to {last} (0 is [CLS])"
                ),
            ))
        };
        let cls_position = cls.position(seq_len);
        let position = |key, position| {
            if position <= seq_len && position != cls_position {
                return Ok(());
            }
            let (from, to) = match cls {
                ClsPlace::First => (1, seq_len),
                ClsPlace::Last => (0, seq_len - 1),
            };
            Err(InvalidValue::new(
                key,
                format!(
                    "position {position} is outside the sample; tokens are at positions {from} to {to} ({cls_position} is [CLS])"
                ),
            ))
        };
        match *self {
            Self::Sentence { corpus } if seq_len < corpus.seq_len() => {
                let least = corpus.seq_len();
                let message =
                    format!("seq_len is {seq_len}, but sentences have up to {least} words");
                Err(InvalidValue::new("seq_len", message))
            }
            Self::Sentence { .. } => Ok(()),
            Self::TokenAtPosition {
                token: wanted,
                position: place,
            } => token("rule.token", wanted).and_then(|()| position("rule.position", place)),
            Self::TokenAnywhere { token: wanted } | Self::Count { token: wanted } => {
                token("rule.token", wanted)
            }
            Self::TokenBeforeToken { first, second } => {
                token("rule.first", first)?;
                token("rule.second", second)?;
                if seq_len < 2 {
                    let message =
                        "a rule about the order of two tokens needs a seq_len of 2 or more";
                    return Err(InvalidValue::new("rule", message));
                }
                Ok(())
            }
            Self::EqualPositions { first, second } => {
                position("rule.first", first)?;
                position("rule.second", second)?;
                if first == second {
                    let message =
                        format!("position {second} is compared with itself; name two positions");
                    return Err(InvalidValue::new("rule.second", message));
                }
                Ok(())
            }
        }
    }

    /// The rule in words, as reports print it.
    pub fn describe(&self) -> String {
        match self {
            Self::TokenAtPosition { token, position } => {
                format!("token {token} is at position {position}")
            }
            Self::TokenAnywhere { token } => format!("token {token} is at any position"),
            Self::Count { token } => format!("how often token {token} occurs"),
            Self::TokenBeforeToken { first, second } => {
                format!("token {first} comes before token {second}")
            }
            Self::EqualPositions { first, second } => {
                format!("positions {first} and {second} hold the same token")
            }
            Self::Sentence { corpus } => {
                format!("what sentences of the grammar {} say", corpus.name())
            }
        }
    }

    /// The question that a classifier of such samples answers, as the title of a report.
    pub fn question(&self) -> String {
        match self {
            Self::Count { token } => format!("How often does token {token} occur?"),
            Self::Sentence { corpus } => corpus.question().to_owned(),
            _ => format!("Is it true that {}?", self.describe()),
        }
    }

    /// The [`label_positions`](Self::label_positions) in words.
    pub fn deciding_place(&self) -> String {
        match self {
            Self::TokenAtPosition { position, .. } => format!("position {position}"),
            Self::TokenAnywhere { token } | Self::Count { token } => {
                format!("token {token}, wherever it is")
            }
            Self::TokenBeforeToken { first, second } => {
                format!("tokens {first} and {second}, wherever they are")
            }
            Self::EqualPositions { first, second } => {
                format!("positions {first} and {second} together")
            }
            Self::Sentence { corpus } => corpus.deciding().to_owned(),
        }
    }
}
