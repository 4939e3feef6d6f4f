//! The vocabulary of a config.

use std::collections::HashSet;

use headlight_schema::{ConfigSection, InvalidValue, Range, choices, require, section};

/// The token that fills shorter texts.
pub const PAD: u32 = 1;

/// The token of every word that the vocabulary lacks.
pub const UNK: u32 = 2;

/// The token of the vocabulary's first word.
pub const FIRST_WORD: u32 = 3;

/// The tokens of a window of one long text, unless its config says otherwise.
pub const WINDOW: usize = 64;

/// Ends each value of a sample of columns, whose values are its words. No word has this character.
pub(crate) const VALUE_END: char = '\u{1f}';

/// The names of the tokens before [`FIRST_WORD`].
pub const SPECIAL: [&str; FIRST_WORD as usize] = ["[CLS]", "[PAD]", "[UNK]"];

/// The most bytes of all words, which the config of each run holds.
const MAX_VOCABULARY_BYTES: usize = 900_000;

choices! {
    /// What a token of a text is.
    pub enum TokenLevel {
        /// A word, or a sign such as a comma; what lies between them is left out.
        Word = "word",
        /// A character, blanks included.
        Character = "character",
    }
}

section! {
    /// How texts become tokens: `[data.words]`.
    ///
    /// Token 0 is `[CLS]`, 1 pads, 2 is an unknown word; the words of the vocabulary follow.
    #[derive(Eq)]
    pub struct Words {
        /// What a token is.
        #[omit(default)]
        pub level: TokenLevel = TokenLevel::Word,
        /// Whether texts are put in lower case.
        pub lowercase: bool = true,
        /// How often a word must occur in the training texts to be in the vocabulary.
        #[range(Range::at_least(1))]
        pub min_count: usize = 1,
        /// The most words that the vocabulary may have: the most frequent ones.
        #[range(Range::at_least(1))]
        pub max_words: usize = 20_000,
        /// Whether a text file is one long text. Its samples are windows of `data.seq_len` tokens (64 if unset), one after the other;
        /// blanks and line breaks are characters like others. The last windows are held out. For the task `next-token`.
        #[omit(default)]
        pub one_text: bool = false,
        /// The words, in the order of their tokens; empty until the training texts give them.
        #[omit(default)]
        pub vocabulary: Vec<String> = Vec::new(),
    }
}

impl Words {
    /// A vocabulary that is given, such as that of a grammar.
    pub fn of(words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            vocabulary: words.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// One more than the largest token.
    pub fn vocab_size(&self) -> u32 {
        FIRST_WORD + self.vocabulary.len() as u32
    }

    /// The text of a token other than `[CLS]`.
    pub fn text(&self, token: u32) -> &str {
        let index = token.checked_sub(FIRST_WORD);
        let word = index.and_then(|index| self.vocabulary.get(index as usize));
        match (token, word) {
            (_, Some(word)) => word,
            (PAD, None) => SPECIAL[PAD as usize],
            (_, None) => SPECIAL[UNK as usize],
        }
    }

    /// The words of a sample, without `[CLS]` and padding.
    pub fn join(&self, tokens: &[u32]) -> String {
        let tokens = tokens.iter().filter(|&&token| token > PAD);
        let words: Vec<&str> = tokens.map(|&token| self.text(token)).collect();
        words.join(self.separator())
    }

    /// What stands between two words of a sample.
    pub(crate) fn separator(&self) -> &'static str {
        match self.level {
            TokenLevel::Word => " ",
            TokenLevel::Character => "",
        }
    }

    /// Checks every value; `are_values` says that its words are values of columns, which may hold blanks.
    ///
    /// # Errors
    /// Names the first invalid one, with its key within `[data.words]`.
    pub(crate) fn validate(&self, are_values: bool) -> Result<(), InvalidValue> {
        self.check_ranges()?;
        let bytes: usize = self.vocabulary.iter().map(|word| word.len() + 4).sum();
        require(bytes <= MAX_VOCABULARY_BYTES, "vocabulary", || {
            let count = self.vocabulary.len();
            format!(
                "the {count} words of the vocabulary have more than {MAX_VOCABULARY_BYTES} bytes; raise min_count or lower max_words"
            )
        })?;
        let mut different = HashSet::new();
        for word in &self.vocabulary {
            let is_broken = |c: char| c.is_control() || c.is_whitespace() && !are_values;
            let is_one = match self.level {
                TokenLevel::Word => !word.is_empty() && !word.chars().any(is_broken),
                TokenLevel::Character => word.chars().count() == 1,
            };
            require(is_one, "vocabulary", || {
                format!("`{word}` is not one {}", self.level.name())
            })?;
            require(!SPECIAL.contains(&&**word), "vocabulary", || {
                format!("`{word}` is reserved for a special token; remove it")
            })?;
            require(different.insert(word), "vocabulary", || {
                format!("the vocabulary has the word `{word}` twice")
            })?;
        }
        Ok(())
    }
}
