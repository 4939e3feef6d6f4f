//! Sentences from grammars, each with a question: about the word after the marker `*`, or, in `sentiment`, about the whole
//! sentence.
//!
//! The class of a sentence with a marker follows from the order of its words, and not from the words alone: for each
//! sentence, the grammar has another one with the same words and another class, and both are equally likely. In
//! `sentiment`, each word is equally frequent in both classes. So a model that only counts words is right on about half of
//! the sentences (a test measures at most 60%).

mod apple;
mod bank;
mod grammar;
mod negation;
mod pronoun;
mod sentiment;

use std::sync::OnceLock;

use headlight_schema::choices;
use rand::Rng;

use crate::cls::{CLS, ClsPlace};
use crate::random::uniform_below;
use crate::words::{FIRST_WORD, PAD, SPECIAL, UNK};

use grammar::{Composition, Grammar, asked};
pub use grammar::{CorpusFacts, MARKER, SentenceAnswer};

/// One of so many compositions is held out.
const HELD_OUT: u64 = 5;

choices! {
    /// A grammar of sentences.
    pub enum Corpus {
        /// Whose quality is asked: `not` stands before one of two qualities, or neither.
        Negation = "negation",
        /// What `it` is: the animal or the place.
        Pronoun = "pronoun",
        /// Which bank, or which crane.
        Bank = "bank",
        /// Which of two apples: the firm or the fruit.
        Apple = "apple",
        /// Whether a short sentence is positive.
        Sentiment = "sentiment",
    }
}

impl Corpus {
    fn grammar(self) -> &'static dyn Grammar {
        match self {
            Self::Negation => &negation::Negation,
            Self::Pronoun => &pronoun::Pronoun,
            Self::Bank => &bank::Bank,
            Self::Apple => &apple::Apple,
            Self::Sentiment => &sentiment::Sentiment,
        }
    }

    /// The vocabulary: the marker, if there is one, then the words in the order of the grammar's lists.
    pub fn words(self) -> &'static [&'static str] {
        static WORDS: [OnceLock<Vec<&str>>; Corpus::ALL.len()] =
            [const { OnceLock::new() }; Corpus::ALL.len()];
        WORDS[self as usize].get_or_init(|| {
            let lists = self.grammar().lists();
            let phrases = lists.into_iter().flatten();
            let mut words: Vec<_> = self.facts().marker.into_iter().collect();
            for word in phrases.flat_map(|phrase| phrase.split(' ')) {
                if !words.contains(&word) {
                    words.push(word);
                }
            }
            words
        })
    }

    /// What is known of the grammar, whatever the sentence.
    pub fn facts(self) -> CorpusFacts {
        self.grammar().facts()
    }

    /// A sentence, of the compositions that are held out or of the others.
    pub fn draw(self, held_out: bool, rng: &mut impl Rng) -> Vec<&'static str> {
        loop {
            let mut choose = |n: usize| uniform_below(n as u32, || rng.next_u32()) as usize;
            let (words, composition) = self.grammar().draw(&mut choose);
            if is_held_out(composition) == held_out {
                return words;
            }
        }
    }

    /// The answer to a sentence; `None` if this grammar cannot tell.
    pub fn read(self, words: &[&str]) -> Option<SentenceAnswer> {
        self.grammar().read(words)
    }

    /// Draws a sentence as the tokens of a sample.
    pub(crate) fn draw_tokens(self, held_out: bool, cls: ClsPlace, rng: &mut impl Rng) -> Vec<u32> {
        let vocabulary = self.words();
        let words = self.draw(held_out, rng);
        let index = |word| vocabulary.iter().position(|known| *known == word);
        let token = |word| index(word).map_or(UNK, |index| FIRST_WORD + index as u32);
        let mut tokens: Vec<u32> = words.into_iter().map(token).collect();
        tokens.resize(self.facts().seq_len, PAD);
        if let Some(position) = cls.position(self.facts().seq_len) {
            tokens.insert(position, CLS);
        }
        tokens
    }

    /// The answer to a sample; positions count `[CLS]`.
    pub(crate) fn read_tokens(self, tokens: &[u32]) -> Option<SentenceAnswer> {
        self.read(&self.texts(tokens))
    }

    /// Where the word is in a sample that the marker asks about.
    pub(crate) fn asked_position(self, tokens: &[u32]) -> Option<usize> {
        asked(&self.texts(tokens))
    }

    /// The words of tokens; nothing for `[CLS]` and padding.
    fn texts(self, tokens: &[u32]) -> Vec<&'static str> {
        let vocabulary = self.words();
        let word = |token: u32| match token.checked_sub(FIRST_WORD) {
            Some(index) => vocabulary.get(index as usize).copied(),
            None => (token == UNK).then_some(SPECIAL[UNK as usize]),
        };
        let words = tokens.iter().map(|&token| word(token).unwrap_or_default());
        words.collect()
    }
}

/// Whether a composition is held out: one in five is, spread evenly by the output function of `SplitMix64` (Steele, Lea and
/// Flood 2014, "Fast splittable pseudorandom number generators").
fn is_held_out(composition: Composition) -> bool {
    let mixed = composition.iter().fold(0_u64, |mixed, &part| {
        let z = (mixed ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    });
    mixed.is_multiple_of(HELD_OUT)
}
