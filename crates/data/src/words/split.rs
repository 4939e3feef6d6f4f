//! The words of a text: what [`PATTERN`] finds, by one table of characters, which takes a tenth of the time of a matcher of patterns.

use std::str::Chars;

use super::characters::{AFTER_APOSTROPHE, BETWEEN, FIRST, LATER, MARK, SIGN, is};

/// What a word is: letters, combining marks, digits and underscores, with apostrophes inside; or one sign. What lies between words is left out.
/// Other programs find the same words with it (Oniguruma, JavaScript, Python's `regex`).
pub const PATTERN: &str = r"[\p{L}\p{N}_][\p{L}\p{M}\p{N}_\x{200C}\x{200D}]*(?:['’][\p{L}\p{M}\p{N}_]+)*|[\p{P}\p{S}]\p{M}*";

/// The characters of a text without blanks, punctuation and control characters.
pub(crate) fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|&c| !is(c, BETWEEN))
}

/// The words of a text, one after the other.
pub(super) struct Split<'a>(Chars<'a>);

impl<'a> Split<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self(text.chars())
    }

    /// Goes past all characters of a class.
    fn pass(&mut self, class: u8) {
        while let Some(c) = self.0.clone().next().filter(|&c| is(c, class)) {
            self.0 = self.0.as_str()[c.len_utf8()..].chars();
        }
    }
}

impl<'a> Iterator for Split<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let (word, first) = loop {
            let word = self.0.as_str();
            let c = self.0.next()?;
            if is(c, FIRST | SIGN) {
                break (word, c);
            }
        };
        if is(first, FIRST) {
            self.pass(LATER);
            while let Some(rest) = self.0.as_str().strip_prefix(['\'', '’']) {
                let mut part = Self::new(rest);
                part.pass(AFTER_APOSTROPHE);
                if part.0.as_str().len() == rest.len() {
                    break;
                }
                *self = part;
            }
        } else {
            self.pass(MARK);
        }
        Some(&word[..word.len() - self.0.as_str().len()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    fn compare(text: &str) {
        let pattern = Regex::new(PATTERN).ok();
        let expected = pattern.iter().flat_map(|pattern| pattern.find_iter(text));
        let expected: Vec<&str> = expected.map(|word| word.as_str()).collect();
        assert_eq!(Split::new(text).collect::<Vec<_>>(), expected, "{text:?}");
    }

    #[test]
    fn words_are_those_of_the_pattern() {
        // Each character: alone, after a letter, after an apostrophe and after a sign.
        let mut text = String::new();
        for c in '\0'..=char::MAX {
            text.extend([' ', c, c, ' ', 'a', c, '\'', c, '’', '_', ' ', '!', c]);
        }
        compare(&text);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn words_of_any_text_are_those_of_the_pattern(text in r"([a_1'’!\u{301}\u{200d} ]|\PC){0,40}") {
            compare(&text);
        }
    }
}
