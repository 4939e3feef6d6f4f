//! Dataset files.

use std::io::Cursor;

use headlight_data::files::{Contents, FileKeys, Format, Rows, Table, write};
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
    let Ok(table) = Table::read(Cursor::new(bytes), format, "") else {
        return;
    };
    choose(&table);
    let Ok(rows) = table.samples(&Columns::default()) else {
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
        let table = Table::read(Cursor::new(again), format, "").unwrap();
        let rows = table.samples(&Columns::default()).unwrap();
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

/// A dataset file whose columns are chosen.
fn choose(table: &Table) {
    let Ok(choice) = table.choose(&Columns::default()) else {
        return;
    };
    if let Ok(rows) = table.samples(&choice.columns) {
        let (config, padding_token) = config(&rows);
        let columns = choice.columns;
        let _ = rows.fit(&DatasetConfig { columns, ..config }, padding_token);
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
    use super::{Format, read_as, seeds_as};

    pub(crate) fn read(bytes: &[u8]) {
        read_as(bytes, Format::Csv);
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        let texts = "text,label\n\"not good, but fun\",yes\nDULL!,no\nfun 😀,yes\nso dull,no\n";
        [seeds_as(Format::Csv), vec![texts.into()]].concat()
    }
}

/// A dataset as JSON lines.
pub(crate) mod jsonl {
    use super::{Format, read_as, seeds_as};

    pub(crate) fn read(bytes: &[u8]) {
        read_as(bytes, Format::Jsonl);
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        let texts = concat!(
            "{\"text\": \"fun\", \"label\": 1}\n{\"text\": \"so \\u00e9t\\u00e9\", \"label\": 0}\n",
            "{\"text\": \"fun!\", \"label\": 1}\n{\"text\": \"\", \"label\": 0}\n"
        );
        [seeds_as(Format::Jsonl), vec![texts.into()]].concat()
    }
}
