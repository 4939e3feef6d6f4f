//! The keys in `docs/reference/config.md`.

use std::fmt::Write;

use headlight_experiment::config::ExperimentConfig;
use headlight_schema::{ConfigSection, Key, Kind, Variant};

/// A config as an example, and a table of keys for each section.
pub(crate) fn text(example: &str) -> String {
    let mut text = format!("```toml\n{example}```\n");
    section(&mut text, "At the top level", "", &ExperimentConfig::keys());
    text
}

/// The table of a section, then those of the sections in it.
fn section(text: &mut String, title: &str, prefix: &str, keys: &[Key]) {
    table(text, title, keys);
    for key in keys {
        let name = format!("{prefix}{}", key.name);
        match &key.kind {
            Kind::Section(keys) => section(text, &format!("`[{name}]`"), &format!("{name}."), keys),
            Kind::Variants(all) => variants(text, &name, all),
            // What a section in a list holds stands elsewhere, too.
            Kind::List(of) => {
                if let Kind::Section(keys) = &**of {
                    table(text, &format!("`[[{name}]]`"), keys);
                }
            }
            _ => {}
        }
    }
}

fn table(text: &mut String, title: &str, keys: &[Key]) {
    writeln!(
        text,
        "\n### {title}\n\n| key | value | default | meaning |\n|---|---|---|---|"
    )
    .unwrap();
    for key in keys {
        if !matches!(key.kind, Kind::Section(_)) {
            *text += &row(key);
        }
    }
}

fn row(key: &Key) -> String {
    let mut value = words(&key.kind);
    if let Some(range) = key.range {
        write!(
            value,
            ", {}",
            range.to_string().trim_start_matches("a number ")
        )
        .unwrap();
    }
    let default = match &key.default {
        _ if key.is_required => "required".to_owned(),
        Some(default) => format!("`{default}`"),
        None => "unset".to_owned(),
    };
    let mut sentence = key.sentence.clone();
    for choice in choices(&key.kind) {
        sentence += &choice;
    }
    format!("| `{}` | {value} | {default} | {sentence} |\n", key.name)
}

/// What values a kind has.
fn words(kind: &Kind) -> String {
    match kind {
        Kind::Whole => "whole number".to_owned(),
        Kind::Number => "number".to_owned(),
        Kind::Switch => "`true`, `false`".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::Path => "path".to_owned(),
        Kind::Choice(choices) => {
            let names = choices.iter().map(|choice| format!("`{:?}`", choice.name));
            names.collect::<Vec<_>>().join(", ")
        }
        Kind::List(of) => match &**of {
            Kind::List(_) => "matrix".to_owned(),
            Kind::Whole => "list of whole numbers".to_owned(),
            Kind::Text => "list of texts".to_owned(),
            Kind::Section(_) => "list of sections".to_owned(),
            of => format!("list of {}", words(of)),
        },
        Kind::Table(of) => format!("table of {}s", words(of)),
        Kind::Either(kinds) => kinds.iter().map(words).collect::<Vec<_>>().join(" or "),
        Kind::Section(_) | Kind::Variants(_) => "section with `kind`".to_owned(),
    }
}

/// The names of a kind's values with their sentences, each on a line of its own.
fn choices(kind: &Kind) -> Vec<String> {
    match kind {
        Kind::Choice(choices) => {
            let told = choices.iter().filter(|choice| !choice.sentence.is_empty());
            told.map(|choice| format!("<br>`{:?}`: {}", choice.name, choice.sentence))
                .collect()
        }
        Kind::Either(kinds) => kinds.iter().flat_map(choices).collect(),
        Kind::List(of) => choices(of),
        _ => Vec::new(),
    }
}

fn variants(text: &mut String, name: &str, variants: &[Variant]) {
    writeln!(
        text,
        "\n#### `{name}`\n\n| `kind` | meaning | other keys |\n|---|---|---|"
    )
    .unwrap();
    for variant in variants {
        let keys = variant.keys.iter().map(|key| {
            let kind = words(&key.kind);
            format!("`{}` ({kind}): {}", key.name, key.sentence)
        });
        let keys: Vec<String> = keys.collect();
        let (name, sentence) = (variant.name, &variant.sentence);
        writeln!(text, "| `{name:?}` | {sentence} | {} |", keys.join("<br>")).unwrap();
    }
}
