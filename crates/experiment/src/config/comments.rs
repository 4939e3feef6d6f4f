//! A config's text with the sentence of each of its keys.

use headlight_schema::{ConfigSection, Key, Kind};
use toml::{Table, Value};

use super::ExperimentConfig;

/// The longest line of a comment, in characters.
const WIDTH: usize = 110;

/// The text of a config with a comment above each line that gives a value: what its keys do. Values have one line each.
pub fn with_comments(config: &str) -> String {
    let mut section = String::new();
    let mut text = String::new();
    for line in config.lines() {
        if let Ok(table) = line.parse::<Table>() {
            let full = section.split('.').filter(|name| !name.is_empty()).rev();
            let table = full.fold(table, |inner, name| {
                Table::from_iter([(name.to_owned(), Value::Table(inner))])
            });
            if line.starts_with('[') {
                line.trim_matches(['[', ']']).clone_into(&mut section);
            }
            for sentence in sentences(&ExperimentConfig::keys(), &table) {
                let options = textwrap::Options::new(WIDTH)
                    .initial_indent("# ")
                    .subsequent_indent("# ");
                for line in textwrap::wrap(&sentence, options) {
                    text.extend([&*line, "\n"]);
                }
            }
        }
        text.extend([line, "\n"]);
    }
    text
}

/// The sentences of the keys that a table has a value for; those of keys in a line of several with their names.
fn sentences(keys: &[Key], table: &Table) -> Vec<String> {
    let given = keys
        .iter()
        .filter_map(|key| Some((key, table.get(key.name)?)));
    given.flat_map(|(key, value)| of_key(key, value)).collect()
}

fn of_key(key: &Key, value: &Value) -> Vec<String> {
    match (&key.kind, value) {
        (Kind::Section(keys), Value::Table(table)) => sentences(keys, table),
        (Kind::List(of), Value::Table(table)) => match &**of {
            Kind::Section(keys) => sentences(keys, table),
            _ => Vec::new(),
        },
        (Kind::Variants(variants), Value::Table(table)) => {
            let named = |name| table.get("kind").and_then(Value::as_str) == Some(name);
            let variant = variants.iter().find(|variant| named(variant.name));
            let mut all = vec![key.sentence.clone()];
            if let Some(variant) = variant {
                all.push(format!("{}: {}", variant.name, variant.sentence));
                let keys = variant.keys.iter();
                all.extend(keys.map(|key| format!("{}: {}", key.name, key.sentence)));
            }
            all
        }
        _ => vec![key.sentence.clone()],
    }
}
