//! The grammar without a marker: unknown words, and how often its words occur in each class.

use std::collections::BTreeMap;

use headlight_data::words::{FIRST_WORD, UNK};
use headlight_data::{ClsPlace, Corpus, DatasetConfig, Stream};
use serde_json::json;

const CORPUS: Corpus = Corpus::Sentiment;

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
    assert_eq!(rule.deciding_positions(&known, ClsPlace::First), [4]);
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
