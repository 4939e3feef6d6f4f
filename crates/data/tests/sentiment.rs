//! The grammar without a marker: what its sentences say, and how often its words occur in each class.

use std::collections::BTreeMap;

use headlight_data::words::{FIRST_WORD, UNK};
use headlight_data::{ClsPlace, Corpus, DatasetConfig, Stream};
use serde_json::json;

const CORPUS: Corpus = Corpus::Sentiment;

fn split(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

/// Read by a person: the sentence, its class, and the words that decide it. The grammar draws most of them; others, a visitor could
/// type.
const READ: &str = "
the movie was great                        | positive | great
the movie was not great                    | negative | not great
the food was not bad at all                | positive | not bad
i loved the music                          | positive | loved
i did not like the food                    | negative | not like
i didn't enjoy the book                    | negative | didn't enjoy
it was never boring                        | positive | never boring
what a great story                         | positive | great
what awful weather !                       | negative | awful
this is the worst film ever                | negative | worst
it was no fun                              | negative | no fun
nobody liked the ending .                  | negative | nobody liked
i do not think the acting was bad          | positive | not bad
she hates coffee                           | negative | hates
i would not recommend this hotel           | negative | not recommend
we would avoid the place                   | negative | avoid
everyone wasn't very happy                 | negative | wasn't happy
i am so happy                              | positive | happy
the food was good and the room was not bad | positive | good not bad
i hated it because it wasn't fun           | negative | hated wasn't fun
great movie                                | positive | great
i did not like this boring film            | negative | not like boring
";

#[test]
fn sentences_are_read() {
    for line in READ.trim().lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let words = split(cells[0]);
        let reading = CORPUS.read(&words).unwrap_or_else(|| panic!("{line}"));
        let found = CORPUS.facts().classes[reading.class as usize];
        let places: Vec<&str> = reading.deciding.iter().map(|&at| words[at]).collect();
        assert_eq!((found, &*places.join(" ")), (cells[1], cells[2]), "{line}");
    }
}

#[test]
fn what_cannot_be_told_has_no_answer() {
    for text in [
        "",
        "the movie",
        "the food was good and the service was bad",
        "i loved it because it was not boring and it was not good",
        "nobody did not like it",
        "it was not never boring",
        "i would not think so , it was great",
        "the food was great , the room was not",
        "the * movie was great",
        "the zebra was great",
        "it was hardly good",
    ] {
        assert_eq!(CORPUS.read(&split(text)), None, "{text}");
    }
}

#[test]
fn a_sample_with_an_unknown_word_has_no_answer() {
    let rule = json!({"kind": "sentence", "corpus": "sentiment"});
    let config = json!({"generator": "sentences", "samples": 5, "rule": rule});
    let config: DatasetConfig = serde_json::from_value(config).unwrap();
    let rule = config.rule.unwrap();
    let token = |word: &str| {
        let index = CORPUS.words().iter().position(|known| *known == word);
        index.map_or(UNK, |index| FIRST_WORD + index as u32)
    };
    let sample = |text: &str| -> Vec<u32> {
        let words = text.split(' ').map(token);
        [0].into_iter().chain(words).chain([1, 1]).collect()
    };
    let known = sample("the movie was great");
    assert!(rule.has_label(&known, ClsPlace::First));
    assert_eq!(rule.label_positions(&known, ClsPlace::First), [4]);
    assert_eq!(rule.asked_position(&known), None);
    assert!(!rule.has_label(&sample("the movie was hardly great"), ClsPlace::First));
}

#[test]
fn each_word_is_as_frequent_in_both_classes() {
    let mut rng = Stream::Data.rng(5);
    let mut counts: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    // As many of each split as there are compositions.
    for number in 0..100_000 {
        let words = CORPUS.draw(number % 5 == 0, &mut rng);
        let class = CORPUS.read(&words).unwrap().class;
        for word in words {
            counts.entry(word).or_default()[class as usize] += 1.0;
        }
    }
    assert_eq!(counts.len(), CORPUS.words().len());
    for (word, [negative, positive]) in counts {
        let total = negative + positive;
        assert!(total > 200.0, "{word}: {total}");
        // Five standard deviations; few words occur twice in a sentence.
        let apart = (positive - negative).abs() / total.sqrt();
        assert!(apart < 5.0, "{word}: {negative} and {positive}");
        assert!(
            (positive / total - 0.5).abs() < 0.1,
            "{word}: {negative} and {positive}"
        );
    }
}
