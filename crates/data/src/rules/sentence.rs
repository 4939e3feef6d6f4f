//! What a sentence of a grammar says.

use headlight_schema::{InvalidValue, section};
use rand::Rng;

use super::rule::{Drawn, Rule};
use crate::cls::ClsPlace;
use crate::corpora::Corpus;
use crate::generator::Generator;
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

    fn label_positions(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<usize> {
        let reading = self.corpus.read_tokens(tokens);
        reading.map_or_else(Vec::new, |reading| reading.deciding)
    }

    /// A grammar draws sentences of all classes alike.
    fn draw(&self, _class: u32, _n_classes: usize, sampler: Sampler, rng: &mut dyn Rng) -> Drawn {
        Some(self.compose(false, sampler, rng))
    }

    fn validate(&self, samples: Sampler) -> Result<(), InvalidValue> {
        let (seq_len, least) = (samples.seq_len, self.corpus.seq_len());
        if seq_len < least {
            let message = format!("seq_len is {seq_len}, but sentences have up to {least} words");
            return Err(InvalidValue::new("seq_len", message));
        }
        Ok(())
    }

    fn describe(&self) -> String {
        format!("what sentences of the grammar {} say", self.corpus.name())
    }

    fn deciding_place(&self) -> String {
        self.corpus.deciding().to_owned()
    }

    fn question(&self) -> String {
        self.corpus.question().to_owned()
    }

    fn most_classes(&self, _samples: Sampler) -> usize {
        self.corpus.classes().len()
    }

    fn knows(&self, tokens: &[u32], _cls: ClsPlace) -> bool {
        self.corpus.read_tokens(tokens).is_some()
    }

    fn asked_position(&self, tokens: &[u32]) -> Option<usize> {
        self.corpus.asked_position(tokens)
    }

    fn words(&self) -> &'static [&'static str] {
        self.corpus.words()
    }

    fn classes(&self) -> &'static [&'static str] {
        self.corpus.classes()
    }

    fn seq_len(&self) -> Option<usize> {
        Some(self.corpus.seq_len())
    }

    fn generator(&self) -> Option<Generator> {
        Some(Generator::Sentences)
    }

    fn compose(&self, held_out: bool, sampler: Sampler, mut rng: &mut dyn Rng) -> Vec<u32> {
        self.corpus.draw_tokens(held_out, sampler.cls, &mut rng)
    }
}
