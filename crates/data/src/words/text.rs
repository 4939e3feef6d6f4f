//! Texts as tokens.

use std::borrow::Cow;
use std::collections::HashMap;

use super::split::Split;
use super::vocabulary::VALUE_END;
use super::{FIRST_WORD, TokenLevel, UNK, Words};
use crate::order::order;

impl Words {
    /// Takes the most frequent words of texts as the vocabulary; of equally frequent ones, the first by alphabet.
    pub(crate) fn learn<'a>(&mut self, texts: impl Iterator<Item = &'a str>) {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for text in texts {
            let text = self.normalized(text);
            for word in self.split(&text) {
                *counts.entry(word.to_owned()).or_default() += 1;
            }
        }
        let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
        counts.retain(|&(_, count)| count >= self.min_count);
        let by_count = order(counts.len(), &|one, other| {
            let [(a, in_a), (b, in_b)] = [&counts[one], &counts[other]];
            in_b.cmp(in_a).then_with(|| a.cmp(b))
        });
        let most = by_count.into_iter().take(self.max_words);
        self.vocabulary = most.map(|word| counts[word].0.clone()).collect();
    }

    /// Number of words in a text.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.split(&self.normalized(text)).count()
    }

    /// The words of a text, or its characters, or the values of columns, as they are written, which may be in upper case.
    pub fn split<'a>(&self, text: &'a str) -> Box<dyn Iterator<Item = &'a str> + 'a> {
        match (text.strip_suffix(VALUE_END), self.level) {
            (Some(values), _) => Box::new(values.split(VALUE_END)),
            (None, TokenLevel::Word) => Box::new(Split::new(text)),
            (None, TokenLevel::Character) => {
                Box::new(text.split("").filter(|part| !part.is_empty()))
            }
        }
    }

    /// A text with composed letters and one kind of apostrophe; in lower case, if these words are. Each character is changed by itself,
    /// as other programs do it.
    pub(crate) fn normalized(&self, text: &str) -> String {
        let text = composed(text);
        let plain = text.chars().map(|c| if c == '’' { '\'' } else { c });
        if self.lowercase {
            plain.flat_map(char::to_lowercase).collect()
        } else {
            plain.collect()
        }
    }
}

/// A text in which a letter and its accents are one character where there is one (NFC). Pages hand over such texts: browsers have
/// the tables, for which a page has no room.
pub fn composed(text: &str) -> Cow<'_, str> {
    #[cfg(not(target_family = "wasm"))]
    if !unicode_normalization::is_nfc(text) {
        return unicode_normalization::UnicodeNormalization::nfc(text).collect();
    }
    text.into()
}

/// A vocabulary, ready to turn texts into tokens.
#[derive(Debug)]
pub struct Encoder<'a> {
    words: &'a Words,
    tokens: HashMap<String, u32>,
}

impl<'a> Encoder<'a> {
    /// The encoder of a vocabulary.
    pub fn new(words: &'a Words) -> Self {
        let mut tokens = HashMap::new();
        for (word, token) in words.vocabulary.iter().zip(FIRST_WORD..) {
            tokens.entry(words.normalized(word)).or_insert(token);
        }
        Self { words, tokens }
    }

    /// The tokens of all words of a text. A text without any is one unknown word, since a sample has a token.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let text = self.words.normalized(text);
        let token = |word| self.tokens.get(word).copied().unwrap_or(UNK);
        let mut tokens: Vec<u32> = self.words.split(&text).map(token).collect();
        if tokens.is_empty() {
            tokens.push(UNK);
        }
        tokens
    }

    /// The tokens of all words of a text, which the vocabulary has; of a text without any, none.
    ///
    /// # Errors
    /// When the vocabulary lacks words: names them.
    pub fn known(&self, text: &str) -> Result<Vec<u32>, String> {
        let text = self.words.normalized(text);
        let token = |word| self.tokens.get(word).copied().ok_or(word);
        let (mut tokens, mut lacking) = (Vec::new(), Vec::new());
        for found in self.words.split(&text).map(token) {
            match found {
                Ok(token) => tokens.push(token),
                Err(word) => lacking.push(format!("`{word}`")),
            }
        }
        if lacking.is_empty() {
            return Ok(tokens);
        }
        let lacking = lacking.join(", ");
        Err(format!(
            "the vocabulary lacks {lacking}; leave them out of the text"
        ))
    }
}
