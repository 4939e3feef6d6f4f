//! Config files, overrides from the command line, and messages that point at the mistake.

use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use headlight_input::TEXT_LIMIT;
use serde::de::IntoDeserializer;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::{ExperimentConfig, InvalidValue};
use crate::Failure;
use crate::files::read_text;

/// The most names of a key, with room to spare: `model.attention.mask` has 3. In files the TOML reader has
/// a limit of its own (80).
const KEY_LIMIT: usize = 16;

/// The longest line that messages show, in bytes.
const SHOWN_LIMIT: usize = 400;

/// Reads a config file, applies `KEY=VALUE` overrides, and checks the result.
///
/// # Errors
/// In one sentence with file, line and column, or the override, and the line itself.
pub fn load(path: &Path, overrides: &[String]) -> Result<ExperimentConfig, Failure> {
    load_changed(path, overrides.iter().map(|text| ("--set", text.as_str())))
}

/// As [`load`], with overrides from other flags than `--set`, which messages then name.
///
/// # Errors
/// As [`load`].
pub fn load_changed<'a>(
    path: &Path,
    overrides: impl Iterator<Item = (&'static str, &'a str)>,
) -> Result<ExperimentConfig, Failure> {
    parse(path, read_text(path, TEXT_LIMIT)?, overrides)
}

/// As [`load_changed`], of a text that was read from `path`.
///
/// # Errors
/// As [`load`].
pub fn parse<'a>(
    path: &Path,
    text: String,
    overrides: impl Iterator<Item = (&'static str, &'a str)>,
) -> Result<ExperimentConfig, Failure> {
    Source::parse(path, text, overrides)?.config()
}

/// A config's text and overrides, kept for pointing at mistakes.
struct Source {
    path: PathBuf,
    text: String,
    overrides: Vec<Override>,
    merged: Table,
}

/// One `--set KEY=VALUE`, or another flag that changes a key.
struct Override {
    key: String,
    /// As it was given.
    flag: String,
}

impl Source {
    fn parse<'a>(
        path: &Path,
        text: String,
        overrides: impl Iterator<Item = (&'static str, &'a str)>,
    ) -> Result<Self, Failure> {
        let merged = text.parse::<Table>();
        let mut source = Self {
            path: path.to_owned(),
            text,
            overrides: Vec::new(),
            merged: Table::new(),
        };
        source.merged = merged.map_err(|error| {
            let message = error.message().replace('\n', ", ");
            Failure::Input(source.at(error.span().unwrap_or(0..0), &message))
        })?;
        for (flag, text) in overrides {
            source.set(flag, text)?;
        }
        Ok(source)
    }

    /// Applies `KEY=VALUE`; a value that is no TOML is taken as a string (`compute.device=wgpu`).
    fn set(&mut self, flag: &str, text: &str) -> Result<(), Failure> {
        let Some((key, value)) = text.split_once('=') else {
            return Err(Failure::Input(format!(
                "{flag} {text}: write KEY=VALUE, such as {flag} training.epochs=5"
            )));
        };
        let (key, value) = (key.trim(), value.trim());
        let parsed = format!("value = {value}")
            .parse::<Table>()
            .ok()
            .and_then(|mut table| table.remove("value"))
            .unwrap_or_else(|| Value::String(value.to_owned()));
        let mut steps: Vec<&str> = key.split('.').collect();
        if steps.len() > KEY_LIMIT {
            return Err(Failure::Input(format!(
                "{flag}: a key of {} names; none has more than {KEY_LIMIT}",
                steps.len()
            )));
        }
        let last = steps.pop().unwrap_or_default();
        let mut table = &mut self.merged;
        for step in steps {
            let entry = table
                .entry(step)
                .or_insert_with(|| Value::Table(Table::new()));
            let Value::Table(inner) = entry else {
                return Err(Failure::Input(format!(
                    "{flag} {text}: `{step}` is a value, not a section"
                )));
            };
            table = inner;
        }
        table.insert(last.to_owned(), parsed);
        self.overrides.push(Override {
            key: key.to_owned(),
            flag: format!("{flag} {text}"),
        });
        Ok(())
    }

    fn config(&self) -> Result<ExperimentConfig, Failure> {
        let deserializer = Value::Table(self.merged.clone()).into_deserializer();
        let config: ExperimentConfig = serde_path_to_error::deserialize(deserializer)
            .map_err(|error| self.mistyped(&error.path().to_string(), error.inner().message()))?;
        config
            .validate()
            .map_err(|InvalidValue { key, message }| self.invalid(&key, &message))?;
        Ok(config)
    }

    /// Where serde stopped, as a sentence.
    fn mistyped(&self, path: &str, message: &str) -> Failure {
        // The path's last step may be the unknown key itself, or "." at the top.
        let path = path.trim_matches('.');
        let message = message.trim_end().replace('\n', ", ");
        if let Some(unknown) = UnknownField::parse(&message) {
            let section = path
                .strip_suffix(unknown.name)
                .map_or(path, |section| section.trim_end_matches('.'));
            let key = join(section, unknown.name);
            return self.invalid(&key, &unknown.explain(section));
        }
        let what = message
            .replace("expected usize", "expected a whole number, 0 or more")
            .replace("expected u64", "expected a whole number, 0 or more")
            .replace(
                "expected u32",
                "expected a whole number from 0 to 4294967295",
            )
            .replace("expected f64", "expected a number")
            .replace(
                "expected internally tagged enum LabelRule",
                "expected a section with `kind`",
            )
            .replace("expected struct Keys", "expected a section")
            .replace("expected a sequence", "expected a list");
        if path.is_empty() {
            return self.invalid(path, &what);
        }
        // An element of a list is found with its list.
        let key = path.split('[').next().unwrap_or(path);
        // Serde's path ends at a rule; what an override put into it is the likelier culprit.
        let inside = self
            .overrides
            .iter()
            .rev()
            .find(|set| is_within(&set.key, key));
        let key = inside.map_or(key, |set| set.key.as_str());
        self.invalid(key, &format!("`{key}`: {what}"))
    }

    /// A message about a key, pointing at where its value comes from.
    fn invalid(&self, key: &str, message: &str) -> Failure {
        let from_override = self.overrides.iter().rev().find(|set| {
            // The override gave the value, the section it stands in, or something in a section
            // that the file does not have.
            is_within(key, &set.key) || is_within(&set.key, key) && self.span(key).is_none()
        });
        if let Some(set) = from_override {
            return Failure::Input(format!("{}: {message}", set.flag));
        }
        Failure::Input(match self.span(key) {
            Some(span) => self.at(span, message),
            None => format!("{}: {message}", self.path.display()),
        })
    }

    /// The place of a key's value in the file; of the closest section that is there otherwise.
    fn span(&self, key: &str) -> Option<Range<usize>> {
        let document = DeTable::parse(&self.text).ok()?;
        let mut table: &DeTable = document.get_ref();
        let mut found = None;
        for step in key.split('.') {
            let Some((name, value)) = table.iter().find(|(name, _)| name.get_ref() == step) else {
                break;
            };
            found = Some(place(name, value));
            match value.get_ref() {
                DeValue::Table(inner) => table = inner,
                _ => break,
            }
        }
        found
    }

    /// `file:line:column: message`, and the line with the place underlined.
    fn at(&self, span: Range<usize>, message: &str) -> String {
        let start = span.start.min(self.text.len());
        let before = &self.text[..start];
        let line_number = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[line_start..].lines().next().unwrap_or("");
        let column = self.text[line_start..start].chars().count() + 1;
        let end = span.end.clamp(start, line_start + line.len());
        let length = self
            .text
            .get(start..end)
            .map_or(1, |text| text.chars().count().max(1));
        let mut text = format!("{}:{line_number}:{column}: {message}", self.path.display());
        if line.len() > SHOWN_LIMIT {
            return text;
        }
        let margin = " ".repeat(line_number.to_string().len());
        let _ = write!(
            text,
            "\n  {line_number} | {line}\n  {margin} | {}{}",
            " ".repeat(column - 1),
            "^".repeat(length)
        );
        text
    }
}

/// A value's place; a section's name where the value is one, since sections have many lines.
fn place(name: &Spanned<std::borrow::Cow<'_, str>>, value: &Spanned<DeValue<'_>>) -> Range<usize> {
    match value.get_ref() {
        DeValue::Table(_) => name.span(),
        _ => name.span().start..value.span().end,
    }
}

/// Whether `key` is `section` or stands in it.
fn is_within(key: &str, section: &str) -> bool {
    key.strip_prefix(section)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn join(section: &str, name: &str) -> String {
    if section.is_empty() {
        name.to_owned()
    } else {
        format!("{section}.{name}")
    }
}

/// Serde's message about an unknown field and the fields expected instead, taken apart.
struct UnknownField<'a> {
    name: &'a str,
    expected: Vec<&'a str>,
}

impl<'a> UnknownField<'a> {
    fn parse(message: &'a str) -> Option<Self> {
        let rest = message.strip_prefix("unknown field ")?;
        // Every second piece between backticks is a name.
        let mut names = rest.split('`').skip(1).step_by(2);
        Some(Self {
            name: names.next()?,
            expected: names.collect(),
        })
    }

    fn explain(&self, section: &str) -> String {
        let place = if section.is_empty() {
            "at the top".to_owned()
        } else {
            format!("in [{section}]")
        };
        let nearest = self
            .expected
            .iter()
            .map(|key| (strsim::jaro_winkler(key, self.name), key))
            .filter(|(likeness, _)| *likeness > 0.75)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        match nearest {
            Some((_, key)) => format!("unknown key `{}` {place}; did you mean `{key}`?", self.name),
            None => format!(
                "unknown key `{}` {place}; it can hold {}",
                self.name,
                self.expected.join(", ")
            ),
        }
    }
}
