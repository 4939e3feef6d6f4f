//! Sentences of the grammars: what they say, that words without their order do not tell it, and what is held out.

use std::collections::{BTreeMap, HashMap, HashSet};

use headlight_data::words::{FIRST_WORD, PAD};
use headlight_data::{Corpus, DatasetConfig, Stream};
use serde_json::{Value, json};

const DRAWN: usize = 20_000;

fn drawn(corpus: Corpus, held_out: bool, seed: u64) -> Vec<(Vec<&'static str>, u32)> {
    let mut rng = Stream::Data.rng(seed);
    (0..DRAWN)
        .map(|_| {
            let words = corpus.draw(held_out, &mut rng);
            let reading = corpus.read(&words).unwrap();
            (words, reading.class)
        })
        .collect()
}

/// Whether sentences ask about the word after a marker.
fn is_marked(corpus: Corpus) -> bool {
    corpus.words().contains(&"*")
}

fn named(name: &str) -> Corpus {
    serde_json::from_value(json!(name)).unwrap()
}

fn split(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

/// The documents' sentences and others of their form, read by a person: the grammar, the sentence, its class, and the words that
/// decide it.
const READ: &str = "
negation  | the * movie was not good , but the soundtrack was amazing                            | bad        | not good
negation  | the movie was not good , but the * soundtrack was amazing                            | good       | amazing
negation  | the * story seemed not dull , and the food seemed poor                               | good       | not dull
pronoun   | the animal did not cross the street because * it was too tired , and it was too wide | animal     | tired
pronoun   | the animal did not cross the street because it was too tired , and * it was too wide | place      | wide
pronoun   | the cat sat on the mat because * it was too dirty , and it was too hungry            | place      | dirty
bank      | the * bank of the river lay behind the office that approved the loan                 | river bank | river
bank      | the bank of the river lay behind the * bank that approved the loan                   | money bank | approved loan
bank      | the shed with the hook faced the * crane that laid the eggs                          | bird       | laid eggs
apple     | * apple launched a new phone while i was eating an apple                             | firm       | launched phone
apple     | apple launched a new phone while i was eating an * apple                             | fruit      | eating
apple     | * apple spoiled a small pie while she was suing the apple                            | fruit      | spoiled pie
apple     | while he was advising the * apple , apple topped a new cake                          | firm       | advising
apple     | while i was eating the * apple , apple launched a new phone                          | fruit      | eating
sentiment | the movie was great                                                                  | positive   | great
sentiment | the movie was not great                                                              | negative   | not great
sentiment | the food was not bad at all                                                          | positive   | not bad
sentiment | i loved the music                                                                    | positive   | loved
sentiment | i did not like the food                                                              | negative   | not like
sentiment | i didn't enjoy the book                                                              | negative   | didn't enjoy
sentiment | it was never boring                                                                  | positive   | never boring
sentiment | what a great story                                                                   | positive   | great
sentiment | what awful weather !                                                                 | negative   | awful
sentiment | this is the worst film ever                                                          | negative   | worst
sentiment | it was no fun                                                                        | negative   | no fun
sentiment | nobody liked the ending .                                                            | negative   | nobody liked
sentiment | i do not think the acting was bad                                                    | positive   | not bad
sentiment | she hates coffee                                                                     | negative   | hates
sentiment | i would not recommend this hotel                                                     | negative   | not recommend
sentiment | we would avoid the place                                                             | negative   | avoid
sentiment | everyone wasn't very happy                                                           | negative   | wasn't happy
sentiment | i am so happy                                                                        | positive   | happy
sentiment | the food was good and the room was not bad                                           | positive   | good not bad
sentiment | i hated it because it wasn't fun                                                     | negative   | hated wasn't fun
sentiment | great movie                                                                          | positive   | great
sentiment | i did not like this boring film                                                      | negative   | not like boring
";

#[test]
fn sentences_are_read() {
    for line in READ.trim().lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let (corpus, words) = (named(cells[0]), split(cells[1]));
        let reading = corpus.read(&words).unwrap();
        let class = corpus.facts().classes[reading.class as usize];
        let found: Vec<&str> = reading.deciding.iter().map(|&at| words[at]).collect();
        assert_eq!((class, &*found.join(" ")), (cells[2], cells[3]), "{line}");
        assert!(
            words.iter().all(|word| corpus.words().contains(word)),
            "{line}"
        );
    }
}

const UNREAD: &str = "
negation  | the movie was good
negation  | the movie was good *
negation  | the * movie was , but the soundtrack was good
pronoun   | the cat was tired and * it
bank      | the * office of the river
bank      | the * bank lay behind the river
apple     | * phone launched a new phone
apple     | * apple
apple     |
sentiment |
sentiment | the movie
sentiment | the food was good and the service was bad
sentiment | i loved it because it was not boring and it was not good
sentiment | nobody did not like it
sentiment | it was not never boring
sentiment | i would not think so , it was great
sentiment | the food was great , the room was not
sentiment | the * movie was great
sentiment | the zebra was great
sentiment | it was hardly good
";

#[test]
fn what_the_grammar_cannot_read_has_no_answer() {
    for line in UNREAD.trim().lines() {
        let (corpus, text) = line.split_once('|').unwrap();
        assert_eq!(
            named(corpus.trim()).read(&split(text.trim())),
            None,
            "{line}"
        );
    }
}

/// Naive Bayes on counts of words, trained on one half and tested on the other.
#[test]
fn counting_words_does_not_tell_the_answer() {
    for corpus in Corpus::ALL {
        let sentences = drawn(corpus, false, 1);
        let classes = corpus.facts().classes.len();
        let mut counts: HashMap<&str, Vec<f64>> = HashMap::new();
        let mut totals = vec![0.0; classes];
        for (words, class) in &sentences[..DRAWN / 2] {
            for word in words {
                counts.entry(word).or_insert_with(|| vec![1.0; classes])[*class as usize] += 1.0;
                totals[*class as usize] += 1.0;
            }
        }
        let right = sentences[DRAWN / 2..].iter().filter(|(words, class)| {
            let score = |class: usize| -> f64 {
                words
                    .iter()
                    .map(|word| (counts[word][class] / totals[class]).ln())
                    .sum()
            };
            let best = (0..classes).max_by(|&a, &b| score(a).total_cmp(&score(b)));
            best == Some(*class as usize)
        });
        let share = right.count() as f64 / (DRAWN / 2) as f64;
        assert!(share < 0.6, "{corpus:?}: {share}");

        if !is_marked(corpus) {
            continue;
        }
        // Nothing that sees the words alone does better: of the sentences of the same words, the classes are even.
        let mut groups: BTreeMap<Vec<&str>, Vec<u32>> = BTreeMap::new();
        for (words, class) in &sentences {
            let mut words = words.clone();
            words.sort_unstable();
            groups.entry(words).or_default().push(*class);
        }
        let (mut pairs, mut equal) = (0_u32, 0_u32);
        for group in groups.values() {
            for pair in group.chunks_exact(2) {
                pairs += 1;
                equal += u32::from(pair[0] == pair[1]);
            }
        }
        assert!(pairs > 100, "{corpus:?}: {pairs}");
        let share = f64::from(equal) / f64::from(pairs);
        assert!((share - 0.5).abs() < 0.15, "{corpus:?}: {share} of {pairs}");
    }
}

/// The marker's position does not tell it either.
#[test]
fn where_the_marker_stands_does_not_tell_the_answer() {
    for corpus in Corpus::ALL.into_iter().filter(|&corpus| is_marked(corpus)) {
        let mut places: BTreeMap<usize, HashMap<u32, f64>> = BTreeMap::new();
        for (words, class) in drawn(corpus, false, 4) {
            let at = words.iter().position(|&word| word == "*").unwrap();
            *places.entry(at).or_default().entry(class).or_default() += 1.0;
        }
        let most = |classes: &HashMap<u32, f64>| classes.values().copied().fold(0.0, f64::max);
        let right: f64 = places.values().map(most).sum();
        let share = right / DRAWN as f64;
        assert!(share < 0.6, "{corpus:?}: {share}");
    }
}

#[test]
fn held_out_sentences_are_new_and_their_words_are_not() {
    for corpus in Corpus::ALL {
        let (train, held_out) = (drawn(corpus, false, 2), drawn(corpus, true, 3));
        let different = |sentences: &[(Vec<&'static str>, u32)]| -> HashSet<Vec<&'static str>> {
            sentences.iter().map(|(words, _)| words.clone()).collect()
        };
        let (seen, new) = (different(&train), different(&held_out));
        // Not even in another order, with which the answer could be another one.
        let in_order = |sentences: &HashSet<Vec<&'static str>>| -> HashSet<Vec<&'static str>> {
            let sorted = |words: &Vec<&'static str>| {
                let mut words = words.clone();
                words.sort_unstable();
                words
            };
            sentences.iter().map(sorted).collect()
        };
        assert!(in_order(&seen).is_disjoint(&in_order(&new)), "{corpus:?}");
        assert!(
            seen.len() > 5000 && new.len() > 1000,
            "{corpus:?}: {} and {}",
            seen.len(),
            new.len()
        );
        let words: HashSet<&str> = seen.iter().flatten().copied().collect();
        assert!(
            new.iter().flatten().all(|word| words.contains(word)),
            "{corpus:?}"
        );
        assert_eq!(words.len(), corpus.words().len(), "{corpus:?}");
        // `sentiment` has no marker, and more words for what is good or bad.
        let most = if is_marked(corpus) { 100 } else { 120 };
        assert!(corpus.words().len() < most, "{corpus:?}");
        let longest = seen.iter().map(Vec::len).max();
        assert_eq!(longest, Some(corpus.facts().seq_len), "{corpus:?}");
        let classes = corpus.facts().classes.len();
        for sentences in [&train, &held_out] {
            let mut counts = vec![0; classes];
            for (_, class) in sentences {
                counts[*class as usize] += 1;
            }
            for count in counts {
                let share = f64::from(count) * classes as f64 / DRAWN as f64;
                assert!((share - 1.0).abs() < 0.35, "{corpus:?}: {share}");
            }
        }
    }
}

fn keys(corpus: Corpus) -> Value {
    json!({"generator": "sentences", "samples": 50, "held_out": 20, "rule": {"kind": "sentence", "corpus": corpus}})
}

#[test]
fn a_config_names_the_corpus_alone() {
    for corpus in Corpus::ALL {
        let config = crate::common::config(keys(corpus));
        config.validate().unwrap();
        assert_eq!(config.seq_len, corpus.facts().seq_len);
        assert_eq!(config.vocab_size, FIRST_WORD + corpus.words().len() as u32);
        assert_eq!(config.classes, corpus.facts().classes);
        let splits = config.generate().unwrap();
        assert_eq!((splits.train.len(), splits.held_out.len()), (50, 20));
        let sentence = corpus.draw(false, &mut Stream::Data.rng(0));
        let row = splits.train.tokens(0);
        let words = config.words.as_ref().unwrap();
        assert_eq!(words.join(row), sentence.join(" "));
        assert!(row[0] == 0 && row[1 + sentence.len()..].iter().all(|&token| token == PAD));
        let reading = corpus.read(&sentence).unwrap();
        assert_eq!(splits.train.label(0), reading.class);
        let rule = config.rule.as_ref().unwrap();
        // Positions count [CLS].
        let places: Vec<usize> = reading.deciding.iter().map(|at| at + 1).collect();
        assert_eq!(rule.deciding_positions(row, config.cls), places);
        let unread = vec![PAD; row.len()];
        assert_eq!(rule.label_for(&unread, config.cls, config.n_classes), 0);
        assert!(rule.has_label(row, config.cls) && !rule.has_label(&unread, config.cls));
        assert_eq!(config.token_text(FIRST_WORD, Some(PAD)), corpus.words()[0]);
        assert_eq!(config.token_text(0, Some(PAD)), "[CLS]");
        assert_eq!(config.token_text(PAD, Some(PAD)), "[PAD]");
        assert_eq!(rule.fixed_positions(), None);
        // Written and read, a config is the same.
        let again: DatasetConfig =
            serde_json::from_value(serde_json::to_value(&config).unwrap()).unwrap();
        assert_eq!(again, config);
    }
}

const REFUSED: &str = r#"
{"generator": "chacha"}                                       | generator
{"positive_rate": 0.5, "classes": ["a", "b"]}                 | positive_rate
{"seq_len": 14}                                               | seq_len
{"words": {"vocabulary": ["the", "of"]}, "vocab_size": 5}     | words.vocabulary
{"rule": {"kind": "token-anywhere", "token": 5}, "words": {}, "vocab_size": 9, "seq_len": 4, "generator": "chacha"} | words
"#;

#[test]
fn a_grammar_goes_with_its_generator_and_words() {
    crate::common::check(&keys(Corpus::Bank), REFUSED);
    let mut config = crate::common::config(keys(Corpus::Bank));
    config.words = None;
    assert_eq!(config.validate().unwrap_err().key, "words.vocabulary");
}
