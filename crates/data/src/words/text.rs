//! Texts as tokens.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::vocabulary::VALUE_END;
use super::{FIRST_WORD, UNK, Words};

/// What a word is: letters, combining marks, digits and underscores, with apostrophes inside; or one sign. What lies between words is left out.
/// Other programs find the same words with it (Oniguruma, JavaScript, Python's `regex`).
pub const PATTERN: &str = r"[\p{L}\p{N}_][\p{L}\p{M}\p{N}_\x{200C}\x{200D}]*(?:['’][\p{L}\p{M}\p{N}_]+)*|[\p{P}\p{S}]\p{M}*";

/// A pattern that cannot be compiled finds nothing; a test compares what it finds with the Python package `tokenizers`.
static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PATTERN).ok());

impl Words {
    /// Takes the most frequent words of texts as the vocabulary; of equally frequent ones, the first by alphabet.
    pub(crate) fn learn<'a>(&mut self, texts: impl Iterator<Item = &'a str>) {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for text in texts {
            let text = self.normalized(text);
            for word in split(&text) {
                match counts.get_mut(word) {
                    Some(count) => *count += 1,
                    None => {
                        counts.insert(word.to_owned(), 1);
                    }
                }
            }
        }
        let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
        counts.retain(|&(_, count)| count >= self.min_count);
        counts.sort_unstable_by(|(a, in_a), (b, in_b)| in_b.cmp(in_a).then_with(|| a.cmp(b)));
        counts.truncate(self.max_words);
        self.vocabulary = counts.into_iter().map(|(word, _)| word).collect();
    }

    /// Number of words in a text.
    pub(crate) fn count(&self, text: &str) -> usize {
        split(&self.normalized(text)).count()
    }

    /// A text in lower case, if these words are. Each character is changed by itself, as other programs do it.
    fn normalized<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.lowercase {
            text.chars().flat_map(char::to_lowercase).collect()
        } else {
            text.into()
        }
    }
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    let (values, text) = match text.strip_suffix(VALUE_END) {
        Some(values) => (Some(values), None),
        None => (None, Some(text)),
    };
    let words = WORD.iter().zip(text);
    let words = words.flat_map(|(word, text)| word.find_iter(text));
    let values = values
        .into_iter()
        .flat_map(|values| values.split(VALUE_END));
    words.map(|word| word.as_str()).chain(values)
}

/// The words of a text as they are written, which may be in upper case.
pub fn written(text: &str) -> impl Iterator<Item = &str> {
    split(text)
}

/// A vocabulary, ready to turn texts into tokens.
#[derive(Debug)]
pub struct Encoder<'a> {
    words: &'a Words,
    tokens: HashMap<&'a str, u32>,
}

impl<'a> Encoder<'a> {
    /// The encoder of a vocabulary.
    pub fn new(words: &'a Words) -> Self {
        let tokens = words.vocabulary.iter().map(String::as_str);
        Self {
            words,
            tokens: tokens.zip(FIRST_WORD..).collect(),
        }
    }

    /// The tokens of all words of a text. A text without any is one unknown word, since a sample has a token.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let text = self.words.normalized(text);
        let token = |word| self.tokens.get(word).copied().unwrap_or(UNK);
        let mut tokens: Vec<u32> = split(&text).map(token).collect();
        if tokens.is_empty() {
            tokens.push(UNK);
        }
        tokens
    }
}
