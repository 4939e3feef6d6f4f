//! Texts become tokens: columns, vocabulary, splits, and what is refused. `scripts/evidence/test_words.py` compares the
//! tokens with those of Hugging Face's `tokenizers`.

use std::fmt::Write;
use std::io::Cursor;

use crate::common::{completed, read, read_columns};
use headlight_data::files::{FileKeys, Format, Rows, SampleTable};
use headlight_data::words::{Encoder, FIRST_WORD, PAD, TokenLevel, UNK};
use headlight_data::{ColumnNames, DatasetConfig, Splits, Task, TextCounts, Words};

fn named(text: Option<&str>, label: Option<&str>) -> ColumnNames {
    ColumnNames {
        text: text.map(str::to_owned),
        label: label.map(str::to_owned),
        ..ColumnNames::default()
    }
}

fn config(rows: &Rows, keys: FileKeys) -> DatasetConfig {
    let (config, padding_token) = completed(rows, keys);
    assert_eq!(padding_token, Some(PAD));
    config
}

fn csv(text: &str, columns: &ColumnNames) -> Result<Rows, String> {
    read_columns(text, Format::Csv, columns).map_err(|error| error.to_string())
}

fn fitted(rows: &Rows, keys: FileKeys) -> Result<(DatasetConfig, Splits), String> {
    let config = config(rows, keys);
    let splits = rows
        .fit(&config, Some(PAD))
        .map_err(|error| error.to_string())?;
    Ok((config, splits))
}

fn none_held_out() -> FileKeys {
    FileKeys {
        held_out: Some(0),
        ..FileKeys::default()
    }
}

const FILM: &str = "id,Review,mood\n1,\"Not good, not bad\",so-so\n2,Good!,good\n3,good GOOD good,good\n4,\"it's\nbad\",so-so\n";

#[test]
fn words_are_numbered_by_frequency_then_alphabet() {
    let rows = csv(FILM, &named(Some("review"), Some("Mood"))).unwrap();
    assert!(rows.are_texts());
    let (config, splits) = fitted(&rows, none_held_out()).unwrap();
    let words = config.words.unwrap();
    assert_eq!(words.vocabulary, ["good", "bad", "not", "!", ",", "it's"]);
    assert_eq!(config.vocab_size, FIRST_WORD + 6);
    assert_eq!((config.seq_len, config.n_classes), (5, 2));
    assert_eq!(config.classes, ["good", "so-so"]);
    let [good, bad, not, sign, comma, its] = [3, 4, 5, 6, 7, 8];
    assert_eq!(splits.train.tokens(0), [0, not, good, comma, not, bad]);
    assert_eq!(splits.train.tokens(1), [0, good, sign, PAD, PAD, PAD]);
    assert_eq!(splits.train.tokens(3), [0, its, bad, PAD, PAD, PAD]);
    assert_eq!(splits.train.labels(), [1, 0, 0, 1]);
    assert_eq!(words.text(its), "it's");
    assert_eq!(words.text(99), "[UNK]");
    assert_eq!(words.join(splits.train.tokens(1)), "good !");
    let texts = splits.texts.unwrap();
    assert_eq!((texts.texts, texts.words, texts.unknown), (4, 12, 0));
    assert_eq!(texts.sentences(5), Vec::<String>::new());
}

#[test]
fn what_is_cut_unknown_or_empty_is_counted() {
    let rows = csv(FILM, &named(Some("review"), Some("mood"))).unwrap();
    let keys = FileKeys {
        seq_len: Some(3),
        words: Some(Words {
            lowercase: false,
            min_count: 2,
            ..Words::default()
        }),
        ..none_held_out()
    };
    let (config, splits) = fitted(&rows, keys).unwrap();
    // "Good" and "GOOD" are other words than "good", and occur once.
    assert_eq!(config.words.as_ref().unwrap().vocabulary, ["good", "bad"]);
    assert_eq!(splits.train.tokens(0), [0, UNK, 3, UNK]);
    let expected = TextCounts {
        texts: 4,
        empty: 0,
        words: 10,
        unknown: 6,
        held_out_words: 0,
        held_out_unknown: 0,
        cut_texts: 1,
        cut_words: 2,
        unit: headlight_data::TextUnit::Words,
        repeated: 0,
    };
    assert_eq!(splits.texts, Some(expected));
    assert_eq!(expected.sentences(3).len(), 2);
    let new = Cursor::new("\n \u{200b} \nbad bad");
    let new = SampleTable::read(new, Format::Txt, "new.txt").unwrap();
    let new = new.lines(true).unwrap();
    let (tokens, counts) = new.tokenized(&config).unwrap();
    assert_eq!((tokens.len(), counts.empty, counts.words), (3, 2, 2));
    let dataset = new.dataset(&config, Some(PAD)).unwrap();
    assert_eq!(dataset.tokens(0), [0, UNK, PAD, PAD]);
    assert_eq!(dataset.tokens(2), [0, 4, 4, PAD]);
}

#[test]
fn the_vocabulary_is_that_of_training_texts_and_at_most_max_words() {
    let text = "text,label,split\na b,x,train\na c,y,train\nd d d,x,test\na c,y,test\n";
    let rows = csv(text, &ColumnNames::default()).unwrap();
    let (config, splits) = fitted(&rows, FileKeys::default()).unwrap();
    assert_eq!(config.words.unwrap().vocabulary, ["a", "b", "c"]);
    assert_eq!((config.held_out, splits.held_out.len()), (0, 2));
    let counts = splits.texts.unwrap();
    assert_eq!((counts.held_out_words, counts.held_out_unknown), (5, 3));
    assert!(counts.sentences(3)[0].starts_with("3 of 5 words of held-out"));
    assert_eq!(counts.repeated, 1);
    let words = Words {
        max_words: 1,
        ..Words::default()
    };
    let keys = FileKeys {
        words: Some(words),
        ..FileKeys::default()
    };
    assert_eq!(
        fitted(&rows, keys).unwrap().0.words.unwrap().vocabulary,
        ["a"]
    );
}

#[test]
fn a_fifth_of_each_class_is_held_out() {
    let mut text = "text,label\n".to_owned();
    for index in 0..100 {
        let label = ["rare", "common", "common", "common"][index % 4];
        writeln!(text, "word{index} same,{label}").unwrap();
    }
    let rows = csv(&text, &ColumnNames::default()).unwrap();
    let (config, splits) = fitted(&rows, FileKeys::default()).unwrap();
    assert_eq!(config.held_out, 20);
    assert_eq!(splits.held_out.class_counts(2), [15, 5]);
    assert_eq!(splits.train.class_counts(2), [60, 20]);
    // A word of a held-out text alone is unknown.
    assert_eq!(config.vocab_size, FIRST_WORD + 81);
    assert!(splits.held_out.all_tokens().contains(&UNK));
    assert!(!splits.train.all_tokens().contains(&UNK));
    let other = FileKeys {
        seed: 1,
        ..FileKeys::default()
    };
    let (_, others) = fitted(&rows, other).unwrap();
    assert_eq!(others.held_out.class_counts(2), [15, 5]);
    assert_ne!(others.train.all_tokens(), splits.train.all_tokens());
}

#[test]
fn jsonl_has_texts_too() {
    let text = "{\"body\": \"So é\", \"kind\": true}\n\n{\"kind\": false, \"body\": \"no\", \"tokens\": 3}\n";
    let columns = named(Some("body"), Some("kind"));
    let read_as = |text: &str, columns: &ColumnNames| {
        read_columns(text, Format::Jsonl, columns).map_err(|error| error.to_string())
    };
    let rows = read_as(text, &columns).unwrap();
    assert_eq!(rows.len(), 2);
    let config = config(&rows, none_held_out());
    assert_eq!(config.classes, ["false", "true"]);
    assert_eq!(
        rows.dataset(&config, Some(PAD)).unwrap().tokens(1),
        [0, 3, PAD]
    );
    for (text, said) in [
        (
            "{\"text\": \"a\", \"label\": 1}\n{\"tokens\": [1], \"label\": 0}",
            "line 2",
        ),
        ("{\"text\": 5, \"label\": 1}", "line 1: the text is not"),
        ("{\"text\": null, \"label\": 1}", "line 1: the text is null"),
        ("{\"label\": 1}", "data.text"),
    ] {
        let message = read_as(text, &ColumnNames::default()).unwrap_err();
        assert!(message.contains(said), "{message}");
    }
    let message = read_as("{\"label\": 1, \"comment\": \"a\"}", &columns).unwrap_err();
    assert!(message.contains("`comment`"), "{message}");
}

/// A letter and its accent as one character or two, and both apostrophes, are one word: in texts, labels, vocabularies and what is
/// compared. Blanks at the ends of a text count where characters do.
#[test]
fn one_word_has_one_token_however_it_is_written() {
    let text = "text,label\ncafe\u{301} don\u{2019}t,caf\u{e9}\nCAF\u{c9} don't,cafe\u{301}\nthe,b\nthe,b\n";
    let rows = csv(text, &ColumnNames::default()).unwrap();
    let (config, splits) = fitted(&rows, none_held_out()).unwrap();
    assert_eq!(config.classes, ["b", "caf\u{e9}"]);
    // Two labels that become one class are named.
    assert_eq!(rows.notes(&[]).len(), 1);
    let mut words = config.words.clone().unwrap();
    assert_eq!(words.vocabulary, ["caf\u{e9}", "don't", "the"]);
    assert_eq!(splits.train.tokens(0), splits.train.tokens(1));
    // Whichever of the four is held out, its twin is trained on.
    let repeated = (0..4).map(|seed| {
        let keys = FileKeys {
            seed,
            held_out: Some(1),
            ..FileKeys::default()
        };
        fitted(&rows, keys).unwrap().1.texts.unwrap().repeated
    });
    assert_eq!(repeated.sum::<usize>(), 4);
    // A vocabulary that was made otherwise.
    words.vocabulary = vec!["cafe\u{301}".into(), "Don\u{2019}t".into()];
    assert_eq!(Encoder::new(&words).encode("caf\u{e9} don't"), [3, 4]);

    let lines = read("ab \r\n\u{9}cd\r\n  \r\nab\r\n", Format::Txt).unwrap();
    let keys = FileKeys {
        task: Task::NextToken,
        words: Some(Words {
            level: TokenLevel::Character,
            ..Words::default()
        }),
        ..none_held_out()
    };
    let (config, splits) = fitted(&lines, keys).unwrap();
    assert_eq!(config.words.unwrap().vocabulary.concat(), "ab\t cd");
    assert_eq!(splits.train.tokens(0), [0, 3, 4, 6]);
    assert_eq!(splits.train.len(), 3);
    let empty = read("", Format::Txt).unwrap_err();
    assert!(empty.message.contains("no samples"), "{empty}");
}

#[test]
fn faults_name_their_place() {
    let plain = ColumnNames::default();
    let of = |text: &str, columns: &ColumnNames| {
        csv(text, columns).and_then(|rows| fitted(&rows, none_held_out()).map(|_| ()))
    };
    for (text, columns, said) in [
        ("a,b\n1,2\n", &plain, "`a`, `b`"),
        ("a,b\n1,2\n", &named(Some("c"), None), "`c`"),
        (
            "text,mood\na,x\nb,y\n",
            &named(None, Some("kind")),
            "`mood`",
        ),
        ("text,label\na,x\nb,\n", &plain, "line 3"),
        ("text,label\na,x\nb,x\n", &plain, "label x"),
        ("text,label\na,x\nb,x \n", &plain, "`x` and `x `"),
        ("text,label\na,001\nb,1\n", &plain, "`001` and `1`"),
        ("text,label\na,x\nb,x\nc,y\n", &plain, "`y`"),
        ("text,label\na,1\nb,1\nc,odd\nd,odd\n", &plain, "`odd`"),
    ] {
        let message = of(text, columns).unwrap_err();
        assert!(message.contains(said), "{text:?}: {message}");
    }
    let mut npz = headlight_npz::NpzWriter::new();
    npz.array("tokens", &[1, 1], &[1_i64]).unwrap();
    let npz = read_columns(npz.finish().unwrap(), Format::Npz, &named(Some("a"), None));
    assert!(npz.unwrap_err().message.contains("data.text"));
}

/// A text whose label the config lacks: the message names the file and the line.
#[test]
fn labels_of_other_texts_are_those_of_the_config() {
    let columns = named(Some("Review"), Some("mood"));
    let (config, _) = fitted(&csv(FILM, &columns).unwrap(), none_held_out()).unwrap();
    let other = csv("Review,mood\nGood!,good\nBad!,odd\n", &columns).unwrap();
    let error = other.dataset(&config, Some(PAD)).unwrap_err();
    assert_eq!(error.name, "file");
    assert!(
        error.message.contains("line 3") && error.message.contains("odd"),
        "{error}"
    );
}

#[test]
fn a_model_of_token_ids_takes_no_texts() {
    let rows = csv("text,label\na,0\nb,1\n", &ColumnNames::default()).unwrap();
    let mut config = config(&rows, none_held_out());
    config.words = None;
    assert!(rows.dataset(&config, None).is_err());
}

#[test]
fn a_vocabulary_is_checked() {
    let rows = csv("text,label\na,0\nb,1\n", &ColumnNames::default()).unwrap();
    let valid = config(&rows, none_held_out());
    valid.validate().unwrap();
    let with = |change: fn(&mut DatasetConfig)| {
        let mut config = valid.clone();
        change(&mut config);
        config.validate().unwrap_err().key
    };
    assert_eq!(with(|config| config.vocab_size += 1), "vocab_size");
    for (key, change) in [
        (
            "words.vocabulary",
            (|words| words.vocabulary[1] = "a".into()) as fn(&mut Words),
        ),
        ("words.vocabulary", |words| {
            words.vocabulary[1] = String::new();
        }),
        ("words.vocabulary", |words| {
            words.vocabulary[1] = "a b".into();
        }),
        ("words.vocabulary", |words| {
            words.vocabulary[1] = "x".repeat(1_000_000);
        }),
        ("words.min_count", |words| words.min_count = 0),
        ("words.max_words", |words| words.max_words = 0),
    ] {
        let mut config = valid.clone();
        change(config.words.as_mut().unwrap());
        assert_eq!(config.validate().unwrap_err().key, key);
    }
}
