//! What followed the last token when it occurred before (Olsson et al. 2022, "In-context Learning and Induction Heads").

use headlight_schema::{InvalidValue, require, section};
use rand::Rng;

use super::rule::Rule;
use crate::cls::ClsPlace;
use crate::generator::Generator;
use crate::random::uniform_below;
use crate::sampler::Sampler;

section! {
    /// The last token has occurred before: the token that followed it the last time is the sample's class.
    ///
    /// In each sample that is drawn it occurred before: the last token is a copy of one that is chosen among the others.
    #[derive(Copy, Eq)]
    pub struct Induction {}
}

impl Induction {
    /// Where the token is that followed; among the tokens without `[CLS]`.
    fn answer_position(tokens: &[u32]) -> Option<usize> {
        let (last, before) = tokens.split_last()?;
        let found = before.iter().rposition(|token| token == last)?;
        Some(found + 1)
    }
}

impl Rule for Induction {
    fn label_for(&self, tokens: &[u32], cls: ClsPlace, _n_classes: usize) -> u32 {
        let tokens = cls.without(tokens);
        Self::answer_position(tokens).map_or(0, |position| tokens[position])
    }

    fn deciding_positions(&self, tokens: &[u32], cls: ClsPlace) -> Vec<usize> {
        let before = usize::from(cls == ClsPlace::First);
        let found = Self::answer_position(cls.without(tokens));
        found.map(|index| index + before).into_iter().collect()
    }

    fn validate(&self, samples: Sampler) -> Result<(), InvalidValue> {
        require(
            samples.seq_len >= 2,
            "seq_len",
            || "the last token must have occurred before; set a seq_len of 2 or more",
        )
    }

    fn describe(&self) -> String {
        "the token that followed the last token when it occurred before".to_owned()
    }

    fn deciding_place(&self) -> String {
        "the token after the last token's last occurrence".to_owned()
    }

    fn question(&self) -> String {
        "Which token followed the last token before?".to_owned()
    }

    fn classes_are_tokens(&self) -> bool {
        true
    }

    fn has_label(&self, tokens: &[u32], cls: ClsPlace) -> bool {
        Self::answer_position(cls.without(tokens)).is_some()
    }

    fn generator(&self) -> Option<Generator> {
        Some(Generator::Chacha)
    }

    fn draw_any(&self, _held_out: bool, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        let mut row = sampler.uniform_sample(|| rng.next_u32());
        let first = usize::from(sampler.cls == ClsPlace::First);
        let last = first + sampler.seq_len - 1;
        let copied = uniform_below(sampler.seq_len as u32 - 1, || rng.next_u32());
        row[last] = row[first + copied as usize];
        row
    }
}
