//! Files with columns: which of them are samples and labels, and categories as samples.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write;
use std::io::Cursor;

use headlight_data::files::{Choice, Contents, FileKeys, Format, Profile, Rows, read, write};
use headlight_data::words::PAD;
use headlight_data::{Columns, DatasetConfig, Source, Splits};

fn chosen(format: Format, text: &str, named: &Columns) -> Result<Choice, String> {
    let profile = Profile::read(Cursor::new(text.to_owned()), format, "mine");
    profile
        .map_err(|error| error.to_string())
        .and_then(|profile| profile.choose(named))
}

/// A table of twelve rows, each made from its number.
fn table(header: &str, row: impl Fn(usize) -> String) -> String {
    let mut text = format!("{header}\n");
    for number in 0..12 {
        let _ = writeln!(text, "{}", row(number));
    }
    text
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn texts(text: &str, label: &str, left_out: &[&str]) -> Choice {
    Choice::Texts {
        text: text.to_owned(),
        label: label.to_owned(),
        left_out: owned(left_out),
    }
}

#[test]
fn texts_are_found_by_name_or_by_what_they_hold() {
    let mood = |number: usize| ["glad", "sad"][number % 2];
    let film = |n: usize| format!("{n},film {n} was long and slow,{}", mood(n));
    // By their names; by their words; without blanks between words.
    let cases = [
        (
            table("id,review,mood", film),
            texts("review", "mood", &["id"]),
        ),
        (table("n,said,kind", film), texts("said", "kind", &["n"])),
        (
            table("said,kind", |n| format!("字字字字字字{n},{}", mood(n))),
            texts("said", "kind", &[]),
        ),
        (
            format!(
                "sep=;\r\n{}",
                table("said;kind", |n| format!("one, two, three, {n};{}", mood(n)))
            ),
            texts("said", "kind", &[]),
        ),
        (
            table("text,said,label,split", |n| {
                format!("a{n},one two three four {n},{},train", mood(n))
            }),
            texts("text", "label", &["said"]),
        ),
    ];
    for (text, choice) in cases {
        assert_eq!(
            chosen(Format::Csv, &text, &Columns::default()).unwrap(),
            choice
        );
    }
    // Fewer than two and a half words, or six characters of other scripts, are no sentence.
    for short in ["one two", "字字字字字"] {
        let short = table("said,kind", |n| format!("{short},{}", mood(n)));
        let choice = chosen(Format::Csv, &short, &Columns::default());
        assert!(matches!(choice, Ok(Choice::Features { .. })), "{choice:?}");
    }
    let two = table("one,two,kind", |n| {
        format!("a b c {n},d e f {n},{}", mood(n))
    });
    let message = chosen(Format::Csv, &two, &Columns::default()).unwrap_err();
    assert!(message.contains("--text"), "{message}");
    let named = Columns {
        text: Some("TWO".to_owned()),
        ..Columns::default()
    };
    let choice = chosen(Format::Csv, &two, &named).unwrap();
    assert_eq!(choice, texts("two", "kind", &["one"]));
}

#[test]
fn token_ids_are_found_in_every_format() {
    let tokens = |label: Option<&str>| Choice::Tokens {
        label: label.map(str::to_owned),
        has_each: false,
    };
    let none = Columns::default();
    let csv = table("Token_0,token_1,label", |n| format!("{n},2,{}", n % 2));
    assert_eq!(
        chosen(Format::Csv, &csv, &none).unwrap(),
        tokens(Some("label"))
    );
    let lines = "{\"label\": 1, \"tokens\": [1, 2]}\n{\"label\": 0, \"tokens\": [3]}\n";
    assert_eq!(
        chosen(Format::Jsonl, lines, &none).unwrap(),
        tokens(Some("label"))
    );
    // The columns of an archive are read later.
    let archive = Profile::read(Cursor::new(Vec::new()), Format::Npz, "mine").unwrap();
    assert_eq!(archive.choose(&none).unwrap(), tokens(None));
}

/// JSON tells `Kind` from `kind`; a table has one of them at most, in whatever case.
#[test]
fn names_of_json_are_exact() {
    let kind = Columns {
        label: Some("KIND".to_owned()),
        ..Columns::default()
    };
    let csv = table("plan,kind", |n| format!("{},{}", n % 3, n % 2));
    let choice = chosen(Format::Csv, &csv, &kind).unwrap();
    assert!(matches!(choice, Choice::Features { label, .. } if label == "kind"));
    let mut lines = String::new();
    for n in 0..12 {
        let _ = writeln!(lines, "{{\"plan\": {}, \"kind\": {}}}", n % 3, n % 2);
    }
    let message = chosen(Format::Jsonl, &lines, &kind).unwrap_err();
    assert!(message.contains("KIND"), "{message}");
}

#[test]
fn what_is_no_category_is_left_out() {
    let text = table("plan,age,price,when,user,split,churned", |n| {
        let plan = ["Pro", "Basic", "Free"][n % 3];
        let churned = ["yes", "no"][n % 2];
        format!(
            "{plan},{},0.5,2024-03-{:02},u{n},train,{churned}",
            30 + n % 4,
            1 + n % 9
        )
    });
    let named = Columns {
        label: Some("churned".to_owned()),
        ..Columns::default()
    };
    let Choice::Features {
        features, left_out, ..
    } = chosen(Format::Csv, &text, &named).unwrap()
    else {
        panic!("no categories")
    };
    assert_eq!(features, ["plan", "age"]);
    let left_out: Vec<String> = left_out.into_iter().map(|(name, _)| name).collect();
    assert_eq!(left_out, ["price", "when", "user"]);
}

fn of_features(format: Format, text: &str) -> Result<Rows, String> {
    let columns = Columns {
        label: Some("kind".to_owned()),
        features: owned(&["plan", "age"]),
        ..Columns::default()
    };
    let rows = read(Cursor::new(text.to_owned()), format, &columns, "mine");
    rows.map_err(|error| error.to_string())
}

fn fitted(rows: &Rows, held_out: Option<usize>) -> (DatasetConfig, Splits) {
    let keys = rows.complete(FileKeys {
        held_out,
        ..FileKeys::default()
    });
    let config = DatasetConfig {
        task: headlight_data::Task::Classification,
        seed: keys.seed,
        source: Source::File("mine".into()),
        columns: Columns::default(),
        words: keys.words,
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
    let splits = rows.fit(&config, Some(PAD)).unwrap();
    (config, splits)
}

/// A category is one word, as it is written, whatever the format.
#[test]
fn categories_are_positions() {
    let csv = "kind,plan,age\na,Pro,1\nb,pro,2\na,Pro,2\nb,pro,2\n";
    let lines = "{\"kind\": \"a\", \"plan\": \"Pro\", \"age\": 1}\n{\"kind\": \"b\", \"plan\": \"pro\", \"age\": 2}\n\
                 {\"kind\": \"a\", \"age\": 2, \"plan\": \"Pro\"}\n{\"kind\": \"b\", \"plan\": \"pro\", \"age\": 2}\n";
    for rows in [
        of_features(Format::Csv, csv),
        of_features(Format::Jsonl, lines),
    ] {
        let rows = rows.unwrap();
        let (config, splits) = fitted(&rows, Some(0));
        let words = config.words.unwrap();
        assert!(!words.lowercase);
        assert_eq!(words.vocabulary.len(), 4);
        assert_eq!(config.seq_len, 2);
        let tokens = |sample| splits.train.tokens(sample)[1..].to_vec();
        assert_eq!(tokens(0)[0], tokens(2)[0]);
        assert_ne!(tokens(0)[0], tokens(1)[0]);
        assert_eq!(tokens(1)[1], tokens(2)[1]);
        let counts = splits.texts.unwrap();
        assert_eq!(counts.parts, headlight_data::Parts::Values);
        assert_eq!((counts.texts, counts.words, counts.unknown), (4, 8, 0));
        assert_eq!(fitted(&rows, Some(2)).1.texts.unwrap().held_out_words, 4);
    }
    // A number and its text would be one value.
    let mixed = "{\"kind\": \"a\", \"plan\": \"1\", \"age\": 1}\n{\"kind\": \"b\", \"plan\": 1, \"age\": 1}\n";
    let notes = |text: &str| of_features(Format::Jsonl, text).unwrap().notes();
    assert!(notes(lines).is_empty());
    assert_eq!(notes(mixed).len(), 1);
    assert!(notes(mixed)[0].contains("line 2"));
}

#[test]
fn empty_cells_and_labels_that_read_as_missing_are_counted() {
    let csv = "kind,plan,age\na,x=,1\nNA,,\nb,x,\nNA,,2\n";
    let rows = of_features(Format::Csv, csv).unwrap();
    let notes = rows.missing(&owned(&["plan", "age"]));
    assert_eq!(notes.len(), 3, "{notes:?}");
    for (name, count, line) in [("`plan`", "2", 3), ("`age`", "2", 3), ("`NA`", "2", 3)] {
        let told = [name, &format!("{count} of 4"), &format!("line {line}")];
        let is_told = |note: &String| told.iter().all(|part| note.contains(part));
        assert!(notes.iter().any(is_told), "{name}: {notes:?}");
    }
    assert!(rows.without_labels().is_empty());
    let csv = csv.replace("NA,", ",q");
    let rows = of_features(Format::Csv, &csv).unwrap();
    assert!(rows.without_labels().contains("2 of 4"));
}

/// What is written is read back, or refused.
#[test]
fn two_keys_of_one_name_are_not_written() {
    let csv = "kind,plan,age\na,x,1\nb,y,2\na,x,2\nb,y,1\n";
    let rows = of_features(Format::Csv, csv).unwrap();
    let (mut config, splits) = fitted(&rows, Some(0));
    let written = |config: &DatasetConfig| {
        let contents = Contents {
            splits: &splits,
            config,
            padding_token: Some(PAD),
            rows: Some(&rows),
        };
        let mut bytes = Vec::new();
        let done = write(contents, Format::Jsonl, &mut bytes);
        done.map(|()| String::from_utf8(bytes).unwrap())
    };
    config.columns.label = Some("kind".to_owned());
    config.columns.features = owned(&["plan", "age"]);
    let again = of_features(Format::Jsonl, &written(&config).unwrap()).unwrap();
    assert_eq!(fitted(&again, Some(0)).1, splits);
    config.columns.label = Some("plan".to_owned());
    assert!(written(&config).is_err());
}

/// Case, blanks and punctuation aside.
#[test]
fn held_out_texts_that_are_training_texts_are_counted() {
    let csv = "split,label,text\ntrain,0,So good\ntrain,1,Bad\nheld_out,0,\"so, GOOD!\"\nheld_out,1,worse\nheld_out,1,...\n";
    let rows = read(
        Cursor::new(csv.to_owned()),
        Format::Csv,
        &Columns::default(),
        "mine",
    )
    .unwrap();
    let (_, splits) = fitted(&rows, None);
    let counts = splits.texts.unwrap();
    assert_eq!(counts.repeated, 1);
    // Of the vocabulary of training texts, held-out ones lack `worse`, and the three signs.
    assert_eq!((counts.words, counts.held_out_words), (11, 8));
    assert_eq!((counts.unknown, counts.held_out_unknown), (6, 6));
    let losses = counts.losses(9);
    assert!(
        losses[0].starts_with("6 of 8 words of held-out"),
        "{losses:?}"
    );
}
