//! Samples: dataset files and lists of tokens.

use std::io::Cursor;

use headlight_data::files::{Choice, Contents, FileKeys, Format, Profile, Rows, read, write};
use headlight_data::rules::TokenAnywhere;
use headlight_data::{ClsPlace, Columns, Dataset, DatasetConfig, LabelRule, Source, Splits};

/// The config of a file that a config says nothing about, and its padding token.
fn config(rows: &Rows) -> (DatasetConfig, Option<u32>) {
    let keys = rows.complete(FileKeys::default());
    let config = DatasetConfig {
        columns: Columns::default(),
        words: keys.words,
        task: headlight_data::Task::Classification,
        seed: 0,
        source: Source::File("data".into()),
        vocab_size: keys.vocab_size.unwrap(),
        seq_len: keys.seq_len.unwrap(),
        n_classes: keys.n_classes.unwrap(),
        classes: keys.classes.unwrap_or_default(),
        cls: keys.cls,
        held_out: keys.held_out.unwrap_or(0),
        fold: None,
        label_noise: 0.0,
        rule: None,
    };
    (config, keys.padding_token)
}

fn read_as(bytes: &[u8], format: Format) {
    let Ok(rows) = read(Cursor::new(bytes), format, &Columns::default(), "") else {
        return;
    };
    let (config, padding_token) = config(&rows);
    let _ = rows.dataset(&config, padding_token);
    // Whatever can be trained on can be written and read again.
    if let Ok(splits) = rows.fit(&config, padding_token) {
        let mut again = Vec::new();
        let contents = Contents {
            splits: &splits,
            config: &config,
            padding_token,
            rows: Some(&rows),
        };
        write(contents, format, &mut again).unwrap();
        let rows = read(Cursor::new(again), format, &Columns::default(), "").unwrap();
        let config = DatasetConfig {
            held_out: 0,
            ..config
        };
        assert_eq!(rows.fit(&config, padding_token), Ok(splits));
    }
}

fn seeds_as(format: Format) -> Vec<Vec<u8>> {
    let rule = LabelRule::from(TokenAnywhere { token: 3 });
    let of = |samples: &[[u32; 4]]| {
        let mut dataset = Dataset::empty(3, ClsPlace::First);
        for sample in samples {
            dataset.push_labelled(sample, &rule, 2);
        }
        dataset
    };
    let splits = Splits {
        train: of(&[[0, 1, 2, 3], [0, 4, 4, 1], [0, 2, 5, 5]]),
        held_out: of(&[[0, 3, 1, 1]]),
        tests: Vec::new(),
        texts: None,
    };
    let seed = |classes: &[&str], padding_token| {
        let config = DatasetConfig {
            columns: Columns::default(),
            words: None,
            task: headlight_data::Task::Classification,
            seed: 0,
            source: Source::File("data".into()),
            vocab_size: 6,
            seq_len: 3,
            n_classes: 2,
            classes: classes.iter().map(|&name| name.to_owned()).collect(),
            cls: ClsPlace::First,
            held_out: 0,
            fold: None,
            label_noise: 0.0,
            rule: None,
        };
        let contents = Contents {
            splits: &splits,
            config: &config,
            padding_token,
            rows: None,
        };
        let mut bytes = Vec::new();
        write(contents, format, &mut bytes).unwrap();
        bytes
    };
    vec![seed(&[], None), seed(&["no", "yes"], Some(5))]
}

/// A dataset file whose columns are chosen by what they hold.
fn choose(bytes: &[u8], format: Format) {
    let Ok(profile) = Profile::read(Cursor::new(bytes), format, "") else {
        return;
    };
    let columns = match profile.choose(&Columns::default()) {
        Ok(Choice::Texts { text, label, .. }) => Columns {
            text: Some(text),
            label: Some(label),
            ..Columns::default()
        },
        Ok(Choice::Features {
            features, label, ..
        }) => Columns {
            label: Some(label),
            features,
            ..Columns::default()
        },
        Ok(Choice::Tokens { .. }) | Err(_) => return,
    };
    if let Ok(rows) = read(Cursor::new(bytes), format, &columns, "") {
        let (config, padding_token) = config(&rows);
        let config = DatasetConfig { columns, ..config };
        let _ = rows.fit(&config, padding_token);
    }
}

/// A compressed dataset, as CSV.
pub(crate) mod gzip {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::{Format, choose, read_as};

    /// The most bytes that are unpacked here.
    const LIMIT: u64 = 1 << 20;

    pub(crate) fn read(bytes: &[u8]) {
        let mut unpacked = Vec::new();
        if headlight_input::gunzip(bytes, &mut unpacked, LIMIT).is_ok() {
            assert!(unpacked.len() as u64 <= LIMIT);
            read_as(&unpacked, Format::Csv);
            choose(&unpacked, Format::Csv);
        }
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        let texts = [
            "text;label\nnot good;no\nfun;yes\n",
            "size\tcolor\ty\nS\tred\t1\nM\tred\t0\n",
        ];
        let packed = texts.map(|text| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(text.as_bytes()).unwrap();
            encoder.finish().unwrap()
        });
        packed.to_vec()
    }
}

/// A dataset as npz.
pub(crate) mod npz {
    use super::{Format, read_as, seeds_as};

    pub(crate) fn read(bytes: &[u8]) {
        read_as(bytes, Format::Npz);
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        seeds_as(Format::Npz)
    }
}

/// A dataset as CSV.
pub(crate) mod csv {
    use super::{Format, choose, read_as, seeds_as};

    pub(crate) fn read(bytes: &[u8]) {
        read_as(bytes, Format::Csv);
        choose(bytes, Format::Csv);
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        let texts = "text,label\n\"not good, but fun\",yes\nDULL!,no\nfun 😀,yes\nso dull,no\n";
        [seeds_as(Format::Csv), vec![texts.into()]].concat()
    }
}

/// A dataset as JSON lines.
pub(crate) mod jsonl {
    use super::{Format, choose, read_as, seeds_as};

    pub(crate) fn read(bytes: &[u8]) {
        read_as(bytes, Format::Jsonl);
        choose(bytes, Format::Jsonl);
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        let texts = concat!(
            "{\"text\": \"fun\", \"label\": 1}\n{\"text\": \"so \\u00e9t\\u00e9\", \"label\": 0}\n",
            "{\"text\": \"fun!\", \"label\": 1}\n{\"text\": \"\", \"label\": 0}\n"
        );
        [seeds_as(Format::Jsonl), vec![texts.into()]].concat()
    }
}

/// A list of tokens, as `dump --tokens` and `predict --tokens` take it.
pub(crate) mod tokens {
    use std::io::Cursor;

    use headlight_trainer::storage::samples::parse;

    use crate::targets::quick;

    pub(crate) fn read(bytes: &[u8]) {
        let _ = parse(Cursor::new(bytes), "", quick());
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        [
            "0 45 48 1 4 4 40\n\n0 1 2 3 4 5 6\n",
            "0 45 48 1 4 4 40",
            "0 51 1",
        ]
        .map(Into::into)
        .to_vec()
    }
}
