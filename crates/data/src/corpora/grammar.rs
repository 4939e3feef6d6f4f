//! What the grammars share: how one is described, and how its sentences are put together.

/// The word before the one that is asked about.
pub const MARKER: &str = "*";

/// The answer to a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentenceAnswer {
    /// The class.
    pub class: u32,
    /// Where the words are that decide it.
    pub deciding: Vec<usize>,
}

/// What a sentence is made of, whatever its order: it decides whether the sentence is held out. Its numbers have 64 bits on every
/// machine, since the page, whose `usize` has 32, holds out the same sentences.
pub(super) type Composition = [u64; 3];

/// The composition of these numbers.
pub(super) fn composition(parts: [usize; 3]) -> Composition {
    parts.map(|part| part as u64)
}

/// What is known of a grammar, whatever the sentence.
#[derive(Clone, Copy, Debug)]
pub struct CorpusFacts {
    /// The word before the one that is asked about; `None` if the question is about the whole sentence.
    pub marker: Option<&'static str>,
    /// The names of the classes.
    pub classes: &'static [&'static str],
    /// The most words of a sentence.
    pub seq_len: usize,
    /// The question, as a title.
    pub question: &'static str,
    /// Which words decide the answer, as the end of a sentence.
    pub deciding: &'static str,
}

/// What a grammar consists of.
pub(super) trait Grammar {
    /// Lists of words; with the marker, they are the vocabulary.
    fn lists(&self) -> Vec<&'static [&'static str]>;
    /// What is known of the grammar.
    fn facts(&self) -> CorpusFacts;
    /// A sentence with its composition; `choose(n)` gives a number below n. The composition follows from the sentence's
    /// words without their order: so the sentence that has them in another order, and another answer, is in the same split.
    fn draw(&self, choose: &mut dyn FnMut(usize) -> usize) -> (Vec<&'static str>, Composition);
    /// The answer to a sentence.
    fn read(&self, words: &[&str]) -> Option<SentenceAnswer>;
}

/// One of these words or phrases, and its index.
pub(super) fn one_of(
    list: &'static [&'static str],
    choose: &mut dyn FnMut(usize) -> usize,
) -> (&'static str, usize) {
    let index = choose(list.len());
    (list[index], index)
}

/// A sentence from its parts, of which those that are empty leave nothing.
pub(super) fn sentence(parts: &[&'static str]) -> Vec<&'static str> {
    let words = parts.iter().flat_map(|part| part.split(' '));
    words.filter(|word| !word.is_empty()).collect()
}

/// The marker, if it is asked for.
pub(super) fn marker(asked: bool) -> &'static str {
    if asked { MARKER } else { "" }
}

/// Where the word is that the marker asks about.
pub(super) fn asked(words: &[&str]) -> Option<usize> {
    words
        .iter()
        .position(|&word| word == MARKER)
        .map(|at| at + 1)
}
