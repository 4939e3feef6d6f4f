//! Files with columns: which of them are samples and labels, and categories as samples.

use std::fmt::Write;
use std::io::Cursor;

use crate::common::{completed, read_columns};
use headlight_data::files::{
    ChosenSamples, ColumnChoice, DatasetToWrite, FileKeys, Format, Rows, SampleTable, write,
};
use headlight_data::words::PAD;
use headlight_data::{ColumnNames, DatasetConfig, Splits};

fn named(text: &str, label: &str, features: &[&str]) -> ColumnNames {
    let name = |name: &str| (!name.is_empty()).then(|| name.to_owned());
    ColumnNames {
        text: name(text),
        label: name(label),
        features: owned(features),
        ..ColumnNames::default()
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// What is chosen: the samples, their columns, that of labels, and what is left out; or the message.
fn chosen(
    format: Format,
    text: &str,
    named: &ColumnNames,
) -> Result<ColumnChoice, (String, &'static [&'static str])> {
    let table = SampleTable::read(Cursor::new(text), format, "mine").unwrap();
    let choice = table.choose(named);
    choice.map_err(|error| (error.message, error.to_name))
}

/// A table of twelve rows, each made from its number.
fn table(header: &str, row: impl Fn(usize) -> String) -> String {
    let mut text = format!("{header}\n");
    for number in 0..12 {
        let _ = writeln!(text, "{}", row(number));
    }
    text
}

/// A row with a value of each column that `header` names.
fn frame(header: &str) -> String {
    let value = |name: &str, n: usize| match name {
        "text" | "Review" | "said" => format!("it was film {n}"),
        "title" => format!("no {}", n % 6),
        "id" => n.to_string(),
        "price" => format!("{}.5", n % 3),
        "one" => "1".to_owned(),
        "none" => String::new(),
        "split" => "train".to_owned(),
        "token_0" | "Token_1" => (1 + n % 5).to_string(),
        _ => ["a", "b"][n % 2].to_owned(),
    };
    table(header, |n| {
        let cells = header.split(',').map(|name| value(name, n));
        cells.collect::<Vec<_>>().join(",")
    })
}

/// The cells of each line of a table.
fn cases<const N: usize>(table: &str) -> impl Iterator<Item = [&str; N]> {
    let lines = table.trim().lines();
    lines.map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        cells.try_into().unwrap()
    })
}

/// The header, `--text`, `--label`; the samples, their columns, the labels, and what is left out.
const CHOSEN: &str = "
text,label                      |      |      | Texts      | text      | label  |
id,Review,mood,split            |      |      | Texts      | Review    | mood   | id
text,said,Class                 |      |      | Texts      | text      | Class  | said
said,kind                       |      |      | Texts      | said      | kind   |
kind,split,said                 |      |      | Texts      | said      | kind   |
title,kind                      |      | kind | Categories | title     | kind   |
id,said,plan,kind               | SAID | Kind | Texts      | said      | kind   | id,plan
text,plan,label                 | plan |      | Texts      | plan      | label  | text
plan,size,label                 |      |      | Categories | plan,size | label  |
id,plan,price,said,none,target  |      |      | Categories | plan      | target | id,price,said,none
token_0,Token_1,label           |      |      | Tokens     |           | label  |
kind,token_0,Token_1,split      |      |      | Tokens     |           | kind   |
id,token_0,kind                 |      | kind | Tokens     |           | kind   |
";

#[test]
fn columns_are_chosen_by_name_or_by_what_repeats() {
    let list = |names: &str| names.split_terminator(',').map(str::to_owned).collect();
    for [header, text, label, samples, own, labels, left_out] in cases(CHOSEN) {
        let choice = chosen(Format::Csv, &frame(header), &named(text, label, &[])).unwrap();
        let mut columns = named("", labels, &[]);
        match samples {
            "Texts" => columns.text = Some(own.to_owned()),
            _ => columns.features = list(own),
        }
        assert_eq!(format!("{:?}", choice.samples), samples, "{header}");
        assert_eq!(choice.columns, columns, "{header}");
        let names: Vec<String> = choice.left_out.iter().map(|left| left.0.clone()).collect();
        assert_eq!(names, list(left_out), "{header}");
        let line = choice.describe();
        for name in names.iter().chain([&labels.to_owned()]) {
            assert!(line.contains(&format!("`{name}`")), "{line}");
        }
    }
    let features = named("", "", &["plan"]);
    let choice = chosen(Format::Csv, &frame("text,plan,label"), &features).unwrap();
    assert_eq!(choice.columns, named("", "label", &["plan"]));
}

/// The header, `--text`, `--label`; what the user has to name, and a part of the message.
const REFUSED: &str = "
text,plan,size         |       |       | label | its columns are `text`, `plan`, `size`
plan,size              |       |       | label text | its columns are `plan`, `size`
id,said                |       |       | label text | `id`, `said`
text,class,mood        |       |       | label | usual for texts or labels: `class`, `mood`
sentence,review,label  |       |       | text  | usual for texts or labels: `sentence`, `review`
id,said,label          |       |       | text  | `id`, `said`, `label`
said,a                 |       |       | label | `a` also occurs as a label below
a,said                 |       |       | label | `a` also occurs as a label below
text,label             | nix   |       | text  | no column `nix`; its columns are `text`, `label`
text,label             |       | nix   | label | no column `nix`
text,label             |       | text  | label | a different label in each row
text,plan,price        |       | price | label | fractions or exponents
text,one               |       | one   | label | one label, `1`
text,none              |       | none  | label | empty
text,label             | label |       | label | a different label in each row
id,label,price         | id    |       | text  | holds numbers, such as 0
";

#[test]
fn columns_that_cannot_be_told_are_listed() {
    for [header, text, label, to_name, part] in cases(REFUSED) {
        let refused = chosen(Format::Csv, &frame(header), &named(text, label, &[])).unwrap_err();
        assert!(refused.0.contains(part), "{header}: {refused:?}");
        assert_eq!(refused.1.join(" "), to_name, "{header}");
    }
    let rows = (0..600).map(|n| format!("a{n},{}\n", n % 300));
    let many = format!("said,kind\n{}", rows.collect::<String>());
    let refused = chosen(Format::Csv, &many, &ColumnNames::default()).unwrap_err();
    assert!(refused.0.contains("256"), "{refused:?}");
    chosen(Format::Csv, &many, &named("said", "kind", &[])).unwrap();
    for (label, part) in [("{}", "objects"), ("12345678901234567890", "2^53")] {
        let lines = format!("{{\"text\": \"a\", \"label\": {label}}}\n").repeat(2);
        let refused = chosen(Format::Jsonl, &lines, &ColumnNames::default()).unwrap_err();
        assert!(refused.0.contains(part), "{refused:?}");
    }
    let named_so = chosen(Format::Csv, &frame("said,a"), &named("", "a", &[])).unwrap();
    assert_eq!(named_so.columns, named("said", "a", &[]));
    let lines = chosen(Format::Txt, "a\n", &ColumnNames::default()).unwrap_err();
    assert!(lines.1.is_empty());
}

/// JSON tells `Kind` from `kind`, and a list from a number; arrays have no columns.
#[test]
fn other_formats_have_the_same_choice() {
    let lines = (0..12).fold(String::new(), |text, n| {
        text + &format!(
            "{{\"size\": {}, \"kind\": {}, \"why\": [1]}}\n",
            n % 3,
            n % 2
        )
    });
    let choice = chosen(Format::Jsonl, &lines, &named("", "kind", &[])).unwrap();
    assert_eq!(choice.columns, named("", "kind", &["size"]));
    assert_eq!(choice.left_out, [("why".to_owned(), "lists or objects")]);
    let refused = chosen(Format::Jsonl, &lines, &named("", "KIND", &[])).unwrap_err();
    assert!(refused.0.contains("`KIND`"), "{refused:?}");
    let tokens = "{\"label\": 1, \"tokens\": [1, 2]}\n{\"label\": 0, \"tokens\": [3]}\n";
    let choice = chosen(Format::Jsonl, tokens, &ColumnNames::default()).unwrap();
    assert_eq!(
        (choice.samples, choice.columns),
        (ChosenSamples::Tokens, named("", "label", &[]))
    );
    let each = "{\"labels\": [1, 0], \"tokens\": [1, 2]}\n";
    let choice = chosen(Format::Jsonl, each, &ColumnNames::default()).unwrap();
    assert_eq!(
        (choice.samples, choice.columns),
        (ChosenSamples::LabelledTokens, ColumnNames::default())
    );
    let mut npz = headlight_npz::NpzWriter::new();
    npz.array("tokens", &[1, 1], &[1_i64]).unwrap();
    let npz = SampleTable::read(Cursor::new(npz.finish().unwrap()), Format::Npz, "mine").unwrap();
    assert_eq!(
        npz.choose(&ColumnNames::default()).unwrap().columns,
        ColumnNames::default()
    );
}

fn of_features(format: Format, text: &str) -> Result<Rows, String> {
    let columns = named("", "kind", &["plan", "age"]);
    read_columns(text, format, &columns).map_err(|error| error.to_string())
}

fn fitted(rows: &Rows, held_out: Option<usize>) -> (DatasetConfig, Splits) {
    let keys = FileKeys {
        held_out,
        ..FileKeys::default()
    };
    let (config, _) = completed(rows, keys);
    let splits = rows.fit(&config, Some(PAD)).unwrap();
    (config, splits)
}

/// A category is one word, as it is written, whatever the format.
#[test]
fn categories_are_positions() {
    let csv = "sep=;\nkind;Plan;age\na;Pro;1\nb;pro;2.0\na;Pro;2\nb;pro;2.\n";
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
        // Under the name that the config has, whatever its case in the file.
        assert!(words.vocabulary.contains(&"plan=Pro".to_owned()));
        assert_eq!(words.vocabulary.len(), 4);
        assert_eq!(config.seq_len, 2);
        let tokens = |sample| splits.train.tokens(sample)[1..].to_vec();
        assert_eq!(tokens(0)[0], tokens(2)[0]);
        assert_ne!(tokens(0)[0], tokens(1)[0]);
        assert_eq!(tokens(1)[1], tokens(2)[1]);
        let counts = splits.texts.unwrap();
        assert_eq!(counts.unit, headlight_data::TextUnit::Values);
        assert_eq!((counts.texts, counts.words, counts.unknown), (4, 8, 0));
        assert_eq!(fitted(&rows, Some(2)).1.texts.unwrap().held_out_words, 4);
    }
}

#[test]
fn empty_cells_and_labels_that_read_as_missing_are_counted() {
    let csv = "kind,plan,age\na,x=,1\nNA,,\nb,x,\nNA,,2\n";
    let rows = of_features(Format::Csv, csv).unwrap();
    let notes = rows.notes(&owned(&["plan", "age"]));
    assert_eq!(notes.len(), 3, "{notes:?}");
    for (name, count, line) in [("`plan`", "2", 3), ("`age`", "2", 3), ("`NA`", "2", 3)] {
        let told = [name, &format!("{count} of 4"), &format!("line {line}")];
        let is_told = |note: &String| told.iter().all(|part| note.contains(part));
        assert!(notes.iter().any(is_told), "{name}: {notes:?}");
    }
    let numbers = of_features(Format::Csv, &csv.replace("NA", "007")).unwrap();
    assert!(numbers.notes(&[])[0].contains("`007` is class `7`"));
    let (config, _) = completed(&rows, FileKeys::default());
    assert_eq!(rows.missing_labels(&config, ""), None);
    let csv = csv.replace("NA,", ",q");
    let rows = of_features(Format::Csv, &csv).unwrap();
    let missing = rows.missing_labels(&config, "").unwrap();
    assert!(missing.contains("2 of 4"), "{missing}");
}

/// A label among what the model reads would give the answer away.
#[test]
fn a_column_has_one_use() {
    let csv = "kind,plan,token_0\na,x,1\nb,y,2\n";
    for (columns, part) in [
        (named("", "kind", &["plan", "KIND"]), "`kind`, for two"),
        (named("", "kind", &["plan", "plan"]), "`plan`, for two"),
        (named("plan", "Plan", &[]), "`plan`, for two"),
        (named("", "token_0", &[]), "`token_0`, for two"),
    ] {
        let rows = read_columns(csv, Format::Csv, &columns);
        let message = rows.unwrap_err().message;
        assert!(message.contains(part), "{message}");
    }
}

/// What is written is read back, or refused.
#[test]
fn two_keys_of_one_name_are_not_written() {
    let csv = "kind,plan,age\na,x,1\nb,y,2\na,x,2\nb,y,1\n";
    let rows = of_features(Format::Csv, csv).unwrap();
    let (mut config, splits) = fitted(&rows, Some(0));
    let written = |config: &DatasetConfig| {
        let contents = DatasetToWrite {
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
