//! Every dataset that can be trained on is written in every format, and read back as it was.
//!
//! `PROPTEST_CASES` sets the number of cases.

use crate::common::{read, read_columns};

use headlight_data::files::{DatasetToWrite, FileKeys, Format, Rows, write};
use headlight_data::{ClsPlace, ColumnNames, DatasetConfig, LabelRule, Source, Splits, Words};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

/// Fewer cases than proptest has by default.
fn cases() -> ProptestConfig {
    let config = ProptestConfig::default();
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if is_set { config.cases } else { 40 },
        ..config
    }
}

/// A text that is hard to write: signs of formats, of tokens, of lines.
fn text() -> impl Strategy<Value = String> {
    const ODD: [&str; 22] = [
        "[UNK]",
        "[PAD] [CLS]",
        "",
        "  ",
        "a\u{1f}b",
        "a\rb",
        "a\r",
        "\r\nb",
        "\"",
        "'",
        "x;y\tz,",
        "\u{feff}a",
        "ẞß İi",
        "don't",
        "\u{85}",
        "=",
        "1",
        "1.0",
        "null",
        "\\n",
        "\u{4}\"",
        "🙂",
    ];
    prop_oneof![
        "[a-cA-C ., ]{0,12}",
        select(&ODD[..]).prop_map(str::to_owned),
        prop::collection::vec(any::<char>(), 0..6).prop_map(String::from_iter),
    ]
}

/// Labels of two or three classes.
fn labels() -> impl Strategy<Value = Vec<Value>> {
    select(vec![
        vec![json!(0), json!(1)],
        vec![json!("ham"), json!("spam, \"eggs\"")],
        vec![json!(-1), json!("1.0"), json!(9_007_199_254_740_991_i64)],
        vec![json!(true), json!(false)],
        vec![json!("Notice"), json!("notice"), json!("nan")],
        vec![json!(5), json!(70)],
    ])
}

/// What the samples of a file hold.
#[derive(Clone, Debug)]
enum Samples {
    Tokens(Vec<Vec<u32>>),
    Texts(Vec<String>),
    Values(Vec<String>, Vec<Vec<String>>),
}

/// Names of columns that are hard to write.
const NAMES: [&str; 10] = [
    "color",
    "a;b;c;d",
    "x,y",
    "q\"",
    "token_0",
    "text",
    "two\nlines",
    "a=b",
    "tab\tname",
    "größe",
];

fn samples() -> impl Strategy<Value = Samples> {
    let count = 12;
    let token = prop::collection::vec(1_u32..9, 1..5);
    let names = subsequence(&NAMES[..], 1..4);
    let names = names.prop_map(|names| names.into_iter().map(str::to_owned).collect::<Vec<_>>());
    let values = names.prop_flat_map(move |names| {
        let row = prop::collection::vec(text(), names.len());
        (Just(names), prop::collection::vec(row, count))
    });
    prop_oneof![
        prop::collection::vec(token, count).prop_map(Samples::Tokens),
        prop::collection::vec(text(), count).prop_map(Samples::Texts),
        values.prop_map(|(names, rows)| Samples::Values(names, rows)),
    ]
}

fn columns() -> impl Strategy<Value = [Option<&'static str>; 2]> {
    select(vec![
        [None, None],
        [Some("label"), Some("text")],
        [None, Some("Class; of\tit")],
        [Some("my, text"), None],
    ])
}

/// The file of samples, as JSONL.
fn file(samples: &Samples, labels: &[Value], columns: &ColumnNames, own_split: bool) -> String {
    let count = 12;
    let mut lines = String::new();
    for row in 0..count {
        let mut keys = Map::new();
        match samples {
            Samples::Tokens(tokens) => {
                keys.insert("tokens".to_owned(), tokens[row].clone().into());
            }
            Samples::Texts(texts) => {
                keys.insert(columns.text_name().to_owned(), texts[row].clone().into());
            }
            Samples::Values(names, rows) => {
                let values = rows[row].iter().map(|value| value.clone().into());
                keys.extend(names.iter().cloned().zip(values));
            }
        }
        let label = &labels[row % labels.len()];
        keys.insert(columns.label_name().to_owned(), label.clone());
        if own_split && row > 7 {
            keys.insert("split".to_owned(), "val".into());
        }
        lines += &Value::Object(keys).to_string();
        lines.push('\n');
    }
    lines
}

/// The config that says nothing of these samples but the keys, and its padding token.
fn completed(rows: &Rows, keys: FileKeys, columns: &ColumnNames) -> (DatasetConfig, Option<u32>) {
    let keys = rows.complete(keys);
    let padding_token = keys.padding_token;
    (keys.config("file", columns.clone()), padding_token)
}

fn written(contents: DatasetToWrite<'_>, format: Format) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(contents, format, &mut bytes).unwrap();
    bytes
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn what_is_written_is_read_back(
        samples in samples(),
        labels in labels(),
        named in columns(),
        held_out in 0_usize..3,
        by_fold in any::<bool>(),
        own_split in any::<bool>(),
        place in 0..3_usize,
        cut in any::<bool>(),
        max_words in 1_usize..8,
    ) {
        let columns = ColumnNames {
            text: named[0].filter(|_| matches!(samples, Samples::Texts(_))).map(str::to_owned),
            label: named[1].map(str::to_owned),
            features: match &samples {
                Samples::Values(names, _) => names.clone(),
                _ => Vec::new(),
            },
            ..ColumnNames::default()
        };
        prop_assume!(!columns.features.iter().any(|name| name == columns.label_name()));
        let has_words = !matches!(samples, Samples::Tokens(_));
        // Words need `[CLS]`.
        let cls = [ClsPlace::First, ClsPlace::Last, ClsPlace::None][place % if has_words { 2 } else { 3 }];
        let mut samples = samples;
        if let (Samples::Tokens(all), ClsPlace::None) = (&mut samples, cls) {
            all.iter_mut().flatten().for_each(|token| *token -= 1);
        }
        let keys = FileKeys {
            seed: 7,
            held_out: (!by_fold && !own_split).then_some(held_out),
            fold: (by_fold && !own_split).then(|| serde_json::from_value(json!("1/3")).unwrap()),
            words: has_words.then(|| Words { max_words, ..Words::default() }),
            seq_len: (cut && matches!(samples, Samples::Texts(_))).then_some(2),
            cls,
            ..FileKeys::default()
        };
        let bytes = file(&samples, &labels, &columns, own_split);
        let rows = read_columns(bytes, Format::Jsonl, &columns).unwrap();
        let (config, padding_token) = completed(&rows, keys.clone(), &columns);
        let splits = rows.fit(&config, padding_token);
        prop_assume!(splits.is_ok(), "{:?}", splits);
        let splits = splits.unwrap();
        let contents = DatasetToWrite { splits: &splits, config: &config, padding_token, rows: Some(&rows) };
        let copied = DatasetConfig { held_out: 0, fold: None, ..config.clone() };
        for format in [Format::Csv, Format::Jsonl] {
            let bytes = written(contents, format);
            let again = read_columns(&bytes, format, &columns).unwrap();
            let shown = String::from_utf8_lossy(&bytes);
            prop_assert_eq!(again.fit(&copied, padding_token), Ok(splits.clone()), "{}", shown);
            // The file gives a config that leaves all to it the same keys. Without held-out samples, it does not say so.
            let none = splits.held_out.is_empty().then_some(0);
            let keys = FileKeys { held_out: none, fold: None, ..keys.clone() };
            let (mut own, own_padding) = completed(&again, keys, &columns);
            own.held_out = 0;
            prop_assert_eq!((&own, own_padding), (&copied, padding_token), "{}", shown);
        }
        // Arrays hold tokens alone.
        let again = read(written(contents, Format::Npz), Format::Npz).unwrap();
        let tokens = DatasetConfig { columns: ColumnNames::default(), words: None, ..copied };
        let splits = Splits { texts: None, ..splits };
        prop_assert_eq!(again.fit(&tokens, padding_token), Ok(splits));
    }

    #[test]
    fn generated_sentences_are_read_back(corpus in select(&["negation", "pronoun", "bank", "apple", "sentiment"][..]), seed in 0_u64..1000) {
        let rule: LabelRule = serde_json::from_value(json!({"kind": "sentence", "corpus": corpus})).unwrap();
        let config = json!({"seed": seed, "samples": 30, "held_out": 20, "generator": "sentences", "rule": rule});
        let config: DatasetConfig = serde_json::from_value(config).unwrap();
        let splits = config.generate().unwrap();
        let padding_token = Some(1);
        let contents = DatasetToWrite { splits: &splits, config: &config, padding_token, rows: None };
        for format in [Format::Csv, Format::Jsonl, Format::Npz] {
            let rows = read(written(contents, format), format).unwrap();
            let from_file = DatasetConfig { source: Source::File("file".into()), held_out: 0, ..config.clone() };
            let again = rows.fit(&from_file, padding_token).unwrap();
            prop_assert_eq!((again.train, again.held_out), (splits.train.clone(), splits.held_out.clone()));
        }
    }
}
