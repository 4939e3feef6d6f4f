//! What a sentence of a grammar says.

use headlight_schema::{InvalidValue, require, section};
use rand::Rng;

use super::rule::{Drawn, Rule};
use crate::cls::ClsPlace;
use crate::corpora::Corpus;
use crate::sampler::Sampler;

section! {
    /// What a sentence says, of the word after its marker or as a whole. A sentence that the grammar cannot read is of class 0.
    pub struct Sentence {
        /// The grammar.
        pub corpus: Corpus,
    }
}

impl Rule for Sentence {
    fn label_for(&self, tokens: &[u32], _cls: ClsPlace, _n_classes: usize) -> u32 {
        let reading = self.corpus.read_tokens(tokens);
        reading.map_or(0, |reading| reading.class)
    }

    fn deciding_positions(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<usize> {
        let reading = self.corpus.read_tokens(tokens);
        reading.map_or_else(Vec::new, |reading| reading.deciding)
    }

    /// A grammar draws sentences of all classes alike.
    fn draw_of_class(&self, _: u32, _: usize, sampler: Sampler, rng: &mut dyn Rng) -> Drawn {
        Some(self.draw_any(false, sampler, rng))
    }

    fn validate(&self, samples: Sampler) -> Result<(), InvalidValue> {
        let (seq_len, least) = (samples.seq_len, self.corpus.facts().seq_len);
        require(seq_len >= least, "seq_len", || {
            format!("seq_len is {seq_len}, but sentences have up to {least} words")
        })
    }

    fn describe(&self) -> String {
        format!("what sentences of the grammar {} say", self.corpus.name())
    }

    fn deciding_place(&self) -> String {
        self.corpus.facts().deciding.to_owned()
    }

    fn question(&self) -> String {
        self.corpus.facts().question.to_owned()
    }

    fn most_classes(&self, _samples: Sampler) -> usize {
        self.corpus.facts().classes.len()
    }

    fn has_label(&self, tokens: &[u32], _cls: ClsPlace) -> bool {
        self.corpus.read_tokens(tokens).is_some()
    }

    fn corpus(&self) -> Option<Corpus> {
        Some(self.corpus)
    }

    fn draw_any(&self, held_out: bool, sampler: Sampler, mut rng: &mut dyn Rng) -> Vec<u32> {
        self.corpus.draw_tokens(held_out, sampler.cls, &mut rng)
    }
}
