//! "the * movie was not good , but the soundtrack was amazing": is the marked thing good?
//!
//! There is one `not` if both qualities are of a kind, and at most one if they are not; so the words fit both answers.

use super::grammar::{
    Composition, CorpusFacts, Grammar, MARKER, SentenceAnswer, asked, composition, marker, one_of,
    sentence,
};

pub(super) struct Negation;

const THINGS: &[&str] = &[
    "movie",
    "soundtrack",
    "story",
    "acting",
    "food",
    "service",
    "camera",
    "room",
];
const GOOD: &[&str] = &["good", "amazing", "great", "lovely", "brilliant", "fun"];
const BAD: &[&str] = &["bad", "awful", "boring", "dull", "poor", "terrible"];
const VERBS: &[&str] = &["was", "seemed"];
const JOINTS: &[&str] = &["but", "and", "while"];

impl Grammar for Negation {
    fn lists(&self) -> Vec<&'static [&'static str]> {
        vec![&["the", "not", ","], VERBS, JOINTS, THINGS, GOOD, BAD]
    }

    fn facts(&self) -> CorpusFacts {
        CorpusFacts {
            marker: Some(MARKER),
            classes: &["bad", "good"],
            seq_len: 12,
            question: "Is the thing after * said to be good?",
            deciding: "the quality of the marked thing, and the word not before it",
        }
    }

    fn draw(&self, choose: &mut dyn FnMut(usize) -> usize) -> (Vec<&'static str>, Composition) {
        let (thing, first) = one_of(THINGS, choose);
        // Another one.
        let second = (first + 1 + choose(THINGS.len() - 1)) % THINGS.len();
        let qualities = [one_of(GOOD, choose), one_of(BAD, choose)];
        let (same, is_good) = (choose(2) == 0, choose(2));
        // Which clause has `not`: the asked one, the other one, or none of them.
        let negated = if same { choose(2) } else { choose(3) };
        let asked = qualities[1 - is_good];
        let other = if same {
            let list = [BAD, GOOD][is_good];
            one_of(list, choose)
        } else {
            qualities[is_good]
        };
        let number = |(_, index): (&str, usize), good: usize| index + GOOD.len() * good;
        let of_other = if same { is_good } else { 1 - is_good };
        // In order: all sentences of the same words are one composition, whatever is asked.
        let mut things = [first, second];
        let mut both = [number(asked, is_good), number(other, of_other)];
        things.sort_unstable();
        both.sort_unstable();
        let composition = composition([things[0] * THINGS.len() + things[1], both[0], both[1]]);
        let is_first = choose(2) == 0;
        let (verb, joint) = (one_of(VERBS, choose).0, one_of(JOINTS, choose).0);
        let clause = |thing, quality, is_asked, is_negated| {
            let not = if is_negated { "not" } else { "" };
            ["the", marker(is_asked), thing, verb, not, quality]
        };
        let asked = clause(thing, asked.0, true, negated == 0);
        let other = clause(THINGS[second], other.0, false, negated == 1);
        let [a, b] = [[other, asked], [asked, other]][usize::from(is_first)];
        let words = sentence(&[&a[..], &[",", joint], &b].concat());
        (words, composition)
    }

    fn read(&self, words: &[&str]) -> Option<SentenceAnswer> {
        let asked = asked(words)?;
        let clause = words.get(asked..)?;
        let end = clause.iter().position(|&word| word == ",");
        let clause = &clause[..end.unwrap_or(clause.len())];
        let quality = clause
            .iter()
            .position(|word| GOOD.contains(word) || BAD.contains(word))?;
        let not = clause[..quality].iter().position(|&word| word == "not");
        let is_good = GOOD.contains(&clause[quality]) != not.is_some();
        Some(SentenceAnswer {
            class: is_good.into(),
            deciding: not
                .into_iter()
                .chain([quality])
                .map(|at| asked + at)
                .collect(),
        })
    }
}
