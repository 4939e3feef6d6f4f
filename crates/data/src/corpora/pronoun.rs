//! "the animal did not cross the street because * it was too tired , and it was too wide": what is the marked "it"?
//!
//! Each sentence has a quality of animals and one of places; so the words fit both answers.

use super::grammar::{
    Composition, CorpusFacts, Grammar, MARKER, SentenceAnswer, asked, composition, marker, one_of,
    sentence,
};

pub(super) struct Pronoun;

const ANIMALS: &[&str] = &["animal", "cat", "dog", "horse", "bird", "fox"];
const CROSSED: &[&str] = &["street", "road", "river", "bridge"];
const SAT_ON: &[&str] = &["mat", "sofa", "roof", "wall"];
const OF_ANIMALS: &[&str] = &["tired", "hungry", "sleepy", "afraid", "thirsty", "lazy"];
const OF_PLACES: &[&str] = &["wide", "dirty", "long", "steep", "narrow", "wet"];

impl Grammar for Pronoun {
    fn lists(&self) -> Vec<&'static [&'static str]> {
        let others = &[
            "the", "did", "not", "cross", "sat", "on", "because", "it", "was", "too", ",", "and",
        ];
        vec![others, ANIMALS, CROSSED, SAT_ON, OF_ANIMALS, OF_PLACES]
    }

    fn facts(&self) -> CorpusFacts {
        CorpusFacts {
            marker: Some(MARKER),
            classes: &["animal", "place"],
            seq_len: 19,
            question: "Is the marked \"it\" the animal or the place?",
            deciding: "the quality of the marked \"it\"",
        }
    }

    fn draw(&self, choose: &mut dyn FnMut(usize) -> usize) -> (Vec<&'static str>, Composition) {
        let (animal, first) = one_of(ANIMALS, choose);
        let (verb, places) = [("did not cross", CROSSED), ("sat on", SAT_ON)][choose(2)];
        let (place, second) = one_of(places, choose);
        let qualities = [one_of(OF_ANIMALS, choose), one_of(OF_PLACES, choose)];
        let composition = composition([
            first * CROSSED.len() + second,
            qualities[0].1,
            qualities[1].1,
        ]);
        let is_place = choose(2);
        let clause = |(quality, _), is_asked| [marker(is_asked), "it was too", quality];
        let of_animal = clause(qualities[0], is_place == 0);
        let of_place = clause(qualities[1], is_place == 1);
        let [a, b] = if choose(2) == 0 {
            [of_animal, of_place]
        } else {
            [of_place, of_animal]
        };
        let start = ["the", animal, verb, "the", place, "because"];
        let words = sentence(&[&start[..], &a, &[", and"], &b].concat());
        (words, composition)
    }

    fn read(&self, words: &[&str]) -> Option<SentenceAnswer> {
        let asked = asked(words)?;
        let after = words.get(asked..)?;
        let found = after
            .iter()
            .position(|word| OF_ANIMALS.contains(word) || OF_PLACES.contains(word))?;
        Some(SentenceAnswer {
            class: OF_PLACES.contains(&after[found]).into(),
            deciding: vec![asked + found],
        })
    }
}
