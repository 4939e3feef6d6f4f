//! "* apple launched a new phone while i was eating an apple": the firm or the fruit?
//!
//! Each sentence has both: one does something, to the other somebody does something. So neither the words nor the place
//! of the marker tell which is asked.

use super::grammar::{
    Composition, CorpusFacts, Grammar, MARKER, SentenceAnswer, asked, composition, marker, one_of,
    sentence,
};

pub(super) struct Apple;

/// What the firm and the fruit do, and to what.
const DOES: [&[&str]; 2] = [
    &["launched", "sold", "showed", "designed", "announced"],
    &["sweetened", "filled", "topped", "flavoured", "spoiled"],
];
const OBJECTS: [&[&str]; 2] = [
    &["phone", "laptop", "watch", "tablet"],
    &["pie", "cake", "salad", "drink"],
];
/// What somebody does to them.
const IS_DONE: [&[&str]; 2] = [
    &["suing", "advising", "calling", "joining", "leaving"],
    &["eating", "peeling", "washing", "slicing", "picking"],
];
const KINDS: &[&str] = &["new", "fast", "cheap", "small"];
const PEOPLE: &[&str] = &["i", "she", "he"];
const ARTICLES: &[&str] = &["an", "the"];

impl Grammar for Apple {
    fn lists(&self) -> Vec<&'static [&'static str]> {
        let others: &[&str] = &["apple", "a", "while", "was", ","];
        let lists = [KINDS, PEOPLE, ARTICLES].into_iter();
        [others]
            .into_iter()
            .chain(DOES)
            .chain(OBJECTS)
            .chain(IS_DONE)
            .chain(lists)
            .collect()
    }

    fn facts(&self) -> CorpusFacts {
        CorpusFacts {
            marker: Some(MARKER),
            classes: &["firm", "fruit"],
            seq_len: 13,
            question: "Is the marked apple the firm or the fruit?",
            deciding: "what the marked apple does, and to what, or what is done to it",
        }
    }

    fn draw(&self, choose: &mut dyn FnMut(usize) -> usize) -> (Vec<&'static str>, Composition) {
        // The meaning of the apple that does something; the other apple has the other.
        let active = choose(2);
        let (does, first) = one_of(DOES[active], choose);
        let (object, second) = one_of(OBJECTS[active], choose);
        let (done, third) = one_of(IS_DONE[1 - active], choose);
        let (kind, person, article) = (
            one_of(KINDS, choose).0,
            one_of(PEOPLE, choose).0,
            one_of(ARTICLES, choose).0,
        );
        let asks_active = choose(2) == 0;
        let acts = [marker(asks_active), "apple", does, "a", kind, object];
        let suffers = [person, "was", done, article, marker(!asks_active), "apple"];
        let words = if choose(2) == 0 {
            sentence(&[&acts[..], &["while"], &suffers].concat())
        } else {
            sentence(&[&["while"], &suffers[..], &[","], &acts].concat())
        };
        (
            words,
            composition([active * DOES[0].len() + first, second, third]),
        )
    }

    fn read(&self, words: &[&str]) -> Option<SentenceAnswer> {
        let asked = asked(words)?;
        if words.get(asked) != Some(&"apple") {
            return None;
        }
        // The verb of the apple follows it, and then an object. If somebody else acts, the verb stands before the article and the marker.
        let is = |lists: [&[&str]; 2], at: usize, meaning: usize| {
            words
                .get(at)
                .is_some_and(|word| lists[meaning].contains(word))
        };
        (0..2).find_map(|meaning| {
            let deciding = if is(DOES, asked + 1, meaning) {
                let object = Some(asked + 4).filter(|&at| is(OBJECTS, at, meaning));
                [Some(asked + 1), object]
            } else {
                [
                    asked.checked_sub(3).filter(|&at| is(IS_DONE, at, meaning)),
                    None,
                ]
            };
            deciding[0].map(|_| SentenceAnswer {
                class: meaning as u32,
                deciding: deciding.into_iter().flatten().collect(),
            })
        })
    }
}
