//! "the * bank of the river lay behind the office that approved the loan": which bank, or which crane?
//!
//! Each sentence has one phrase for each meaning; so the words fit both.

use super::grammar::{
    Composition, CorpusFacts, Grammar, MARKER, SentenceAnswer, asked, composition, marker, one_of,
    sentence,
};

pub(super) struct Bank;

/// Two words, with phrases for either meaning.
const WORDS: &[(&str, [&[&str]; 2])] = &[
    ("bank", [OF_RIVERS, OF_MONEY]),
    ("crane", [OF_BIRDS, OF_MACHINES]),
];
const OF_RIVERS: &[&str] = &[
    "of the river",
    "by the stream",
    "near the shore",
    "under the willows",
    "above the water",
    "of the creek",
    "by the ferry",
    "near the reeds",
];
const OF_MONEY: &[&str] = &[
    "that approved the loan",
    "that held the money",
    "with the vault",
    "that cashed the cheque",
    "with the clerks",
    "that charged the fee",
    "with the safe",
    "that paid the interest",
];
const OF_BIRDS: &[&str] = &[
    "with the feathers",
    "that laid the eggs",
    "of the marsh",
    "near the nest",
    "that caught the fish",
    "that guarded the chicks",
    "with the wings",
    "of the lagoon",
];
const OF_MACHINES: &[&str] = &[
    "that lifted the steel",
    "with the hook",
    "of the harbour",
    "near the scaffold",
    "that moved the bricks",
    "that carried the beams",
    "with the cable",
    "of the dockyard",
];
const OTHERS: &[&str] = &[
    "office", "house", "path", "shed", "tower", "garden", "gate", "shop",
];
const VERBS: &[&str] = &["lay behind", "stood near", "was beside", "faced"];
/// Words of phrases that fit any meaning.
const NEUTRAL: &[&str] = &["of", "the", "by", "near", "under", "above", "that", "with"];

impl Grammar for Bank {
    fn lists(&self) -> Vec<&'static [&'static str]> {
        let phrases = WORDS.iter().flat_map(|(_, phrases)| *phrases);
        [NEUTRAL, &["bank", "crane"], OTHERS, VERBS]
            .into_iter()
            .chain(phrases)
            .collect()
    }

    fn facts(&self) -> CorpusFacts {
        CorpusFacts {
            marker: Some(MARKER),
            classes: &["river bank", "money bank", "bird", "machine"],
            seq_len: 15,
            question: "What does the word after * mean?",
            deciding: "the words after the marked one that only one meaning has",
        }
    }

    fn draw(&self, choose: &mut dyn FnMut(usize) -> usize) -> (Vec<&'static str>, Composition) {
        let number = choose(WORDS.len());
        let (word, phrases) = WORDS[number];
        let meaning = choose(2);
        let (phrase, first) = one_of(phrases[meaning], choose);
        let (contrast, second) = one_of(phrases[1 - meaning], choose);
        // Once in nine sentences, the other thing has the same word.
        let other = OTHERS
            .get(choose(OTHERS.len() + 1))
            .copied()
            .unwrap_or(word);
        let verb = one_of(VERBS, choose).0;
        let (asked, plain) = ([marker(true), word, phrase], ["", other, contrast]);
        let (a, b) = if choose(2) == 0 {
            (asked, plain)
        } else {
            (plain, asked)
        };
        let words = sentence(&["the", a[0], a[1], a[2], verb, "the", b[0], b[1], b[2]]);
        // The phrase of the first meaning first, whichever is asked.
        let [first, second] = if meaning == 0 {
            [first, second]
        } else {
            [second, first]
        };
        (words, composition([number, first, second]))
    }

    fn read(&self, words: &[&str]) -> Option<SentenceAnswer> {
        let asked = asked(words)?;
        let word = words.get(asked)?;
        let number = WORDS.iter().position(|(found, _)| found == word)?;
        let meaning_of = |word: &str| {
            let has = |phrases: &[&str]| {
                phrases
                    .iter()
                    .any(|phrase| phrase.split(' ').any(|part| part == word))
            };
            WORDS[number].1.iter().position(|phrases| has(phrases))
        };
        let mut found: Option<SentenceAnswer> = None;
        for (at, word) in words.iter().enumerate().skip(asked + 1) {
            if NEUTRAL.contains(word) {
                continue;
            }
            let Some(meaning) = meaning_of(word) else {
                break;
            };
            let class = (2 * number + meaning) as u32;
            let reading = found.get_or_insert(SentenceAnswer {
                class,
                deciding: Vec::new(),
            });
            reading.deciding.push(at);
        }
        found
    }
}
