//! Reads configs from TOML, applies changes from the command line, and points at mistakes.

use std::ops::Range;

use headlight_input::toml_message::{
    TOO_LARGE, Unknown, excerpt, is_too_large, line_and_column, nearest, plain,
};
use headlight_schema::{ConfigSection, InvalidValue, Key, Kind, paths};
use serde::de::IntoDeserializer;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::ExperimentConfig;

/// The most names in a key of a change; `model.attention.mask` has 3. For files, the TOML reader has its own
/// limit (80).
const KEY_LIMIT: usize = 16;

/// The longest line that messages show, in bytes.
const SHOWN_LIMIT: usize = 400;

/// One change of a config: the flag that gives it, such as `--set`, and its `KEY=VALUE`; or `KEY` alone, which takes the
/// key out of the config, so that it has its default.
pub type Change<'a> = (&'static str, &'a str);

/// A config with changes, neither completed nor checked.
///
/// # Errors
/// When the text is not TOML, or a change cannot be applied.
pub fn apply_changes<'a>(
    name: &str,
    text: &str,
    changes: impl Iterator<Item = Change<'a>>,
) -> Result<Table, String> {
    let changes: Vec<Change<'a>> = changes.collect();
    Ok(Source::parse(name, text, &changes, None)?.merged)
}

/// Reads a config from TOML, applies the changes, and checks the result.
///
/// Messages refer to the text as `name`. `complete` adds the keys that the config leaves to its dataset file, and
/// `check` the caller's own checks of values.
///
/// # Errors
/// One sentence with name, line and column, and the line itself; or with the change that is wrong; or that of
/// `complete`.
pub fn parse<'a>(
    name: &str,
    text: &str,
    changes: impl Iterator<Item = Change<'a>>,
    mut complete: impl FnMut(&mut Table) -> Result<(), String>,
    check: impl Fn(&ExperimentConfig) -> Result<(), InvalidValue>,
) -> Result<ExperimentConfig, String> {
    let changes: Vec<Change<'a>> = changes.collect();
    let mut attempt = |changes: &[Change<'a>], culprit| {
        let source = Source::parse(name, text, changes, culprit)?;
        source.config(&mut complete, &check)
    };
    let parsed = attempt(&changes, None);
    if parsed.is_ok() || changes.is_empty() || attempt(&[], None).is_err() {
        return parsed;
    }
    // The config is valid without changes. So the message blames the change whose removal makes it valid, even for a key of the file.
    // If there is none, it blames a change whose removal leads to another message.
    let culprit = (0..changes.len()).min_by_key(|&index| {
        let others = [&changes[..index], &changes[index + 1..]].concat();
        match attempt(&others, None) {
            Ok(_) => 0,
            other => 1 + usize::from(other == parsed),
        }
    });
    attempt(&changes, culprit)
}

impl Source {
    /// The config, completed and checked.
    fn config(
        mut self,
        complete: impl FnOnce(&mut Table) -> Result<(), String>,
        check: impl FnOnce(&ExperimentConfig) -> Result<(), InvalidValue>,
    ) -> Result<ExperimentConfig, String> {
        complete(&mut self.merged)?;
        if let Some((key, what)) = misshapen(&self.merged, &ExperimentConfig::keys()) {
            return Err(self.locate(&key, &format!("`{key}` {what}")));
        }
        let deserializer = Value::Table(self.merged.clone()).into_deserializer();
        let config: ExperimentConfig =
            serde_path_to_error::deserialize(deserializer).map_err(|error| {
                let message = plain(error.inner().message());
                self.mistyped(&error.path().to_string(), &message)
            })?;
        let checked = config.validate().and_then(|()| check(&config));
        checked.map_err(|InvalidValue { key, message }| self.locate(&key, &message))?;
        Ok(config)
    }
}

/// A config's text and changes, kept to locate mistakes in them.
struct Source {
    name: String,
    text: String,
    changes: Vec<AppliedChange>,
    /// The change that is to blame for what is wrong in the text.
    culprit: Option<usize>,
    merged: Table,
}

struct AppliedChange {
    key: String,
    /// The flag and its argument, as the user wrote them.
    written: String,
}

impl Source {
    fn parse(
        name: &str,
        text: &str,
        changes: &[Change<'_>],
        culprit: Option<usize>,
    ) -> Result<Self, String> {
        let merged = text.parse::<Table>();
        let mut source = Self {
            name: name.to_owned(),
            text: text.to_owned(),
            changes: Vec::new(),
            culprit,
            merged: Table::new(),
        };
        source.merged = merged
            .map_err(|error| source.at(error.span().unwrap_or(0..0), &plain(error.message())))?;
        for (flag, change) in changes {
            source.apply(flag, change)?;
        }
        Ok(source)
    }

    /// Applies `KEY=VALUE`, or takes out `KEY`. A value that is not valid TOML is a string (`compute.device=wgpu`).
    fn apply(&mut self, flag: &str, change: &str) -> Result<(), String> {
        let Some((key, value)) = change.split_once('=') else {
            return self.take_out(flag, change.trim());
        };
        let (key, value) = (key.trim(), value.trim());
        let parsed = match value.parse::<Value>() {
            Ok(parsed) => Some(parsed),
            Err(error) if value.starts_with(['[', '{', '"', '\'']) => {
                return Err(format!("{flag} {change}: {}", plain(error.message())));
            }
            Err(_) if is_too_large(value) => return Err(format!("{flag} {change}: {TOO_LARGE}")),
            Err(_) => None,
        };
        let parsed = parsed.unwrap_or_else(|| Value::String(value.to_owned()));
        let mut sections: Vec<&str> = key.split('.').collect();
        if sections.len() > KEY_LIMIT {
            return Err(format!(
                "{flag}: the key has {} names; a key can have at most {KEY_LIMIT}",
                sections.len()
            ));
        }
        let last = sections.pop().unwrap_or_default();
        let mut table = &mut self.merged;
        for section in sections {
            let entry = table
                .entry(section)
                .or_insert_with(|| Value::Table(Table::new()));
            let Value::Table(inner) = entry else {
                return Err(format!(
                    "{flag} {change}: `{section}` is a value, not a section"
                ));
            };
            table = inner;
        }
        table.insert(last.to_owned(), parsed);
        self.changes.push(AppliedChange {
            key: key.to_owned(),
            written: format!("{flag} {change}"),
        });
        Ok(())
    }

    /// Takes a key or a section out of the config.
    fn take_out(&mut self, flag: &str, key: &str) -> Result<(), String> {
        let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
        let mut steps = section.split('.').filter(|step| !step.is_empty());
        let table = steps.try_fold(&mut self.merged, |table, step| {
            table.get_mut(step)?.as_table_mut()
        });
        if table.and_then(|table| table.remove(name)).is_none() {
            return Err(format!(
                "{flag} {key}: {} has no key `{key}` that could be taken out{}",
                self.name,
                self.other_key(section, name)
            ));
        }
        self.changes.push(AppliedChange {
            key: key.to_owned(),
            written: format!("{flag} {key}"),
        });
        Ok(())
    }

    /// The key to take out in place of an unknown one, as the end of a message.
    fn other_key(&self, section: &str, name: &str) -> String {
        let path = |name: &str| format!("{section}.{name}").trim_matches('.').to_owned();
        let all = paths(ExperimentConfig::keys());
        if all.iter().any(|(key, _)| is_within(key, &path(name))) {
            return String::new();
        }
        let table = match section {
            "" => Some(&self.merged),
            _ => self.table(section),
        };
        let known = table.into_iter().flat_map(Table::keys).map(String::as_str);
        let near = nearest(name, known).map(path);
        let known = keys_of(name).into_iter().chain(near).next();
        known.map_or_else(String::new, |key| format!("; did you mean `{key}`?"))
    }

    /// The message for a key that serde refused.
    fn mistyped(&self, path: &str, message: &str) -> String {
        // The path's last step may be the unknown key itself, or "." at the top.
        let path = path.trim_matches('.');
        let (plain, is_listed) = (path.replace('[', ".").replace(']', ""), path.contains('['));
        if let Some(unknown) = Unknown::parse(message).filter(|unknown| unknown.what == "field") {
            let section = plain.strip_suffix(unknown.name);
            let section = section.and_then(|section| section.strip_suffix('.'));
            let section = section
                .filter(|_| self.table(&plain).is_none())
                .unwrap_or(&plain);
            let key = format!("{section}.{}", unknown.name);
            let key = key.trim_start_matches('.').to_owned();
            let place = match section {
                "" => "at the top level".to_owned(),
                _ if is_listed => format!("in [[{}]]", path.split('[').next().unwrap_or_default()),
                _ => format!("in [{section}]"),
            };
            if let Some(message) = self.other_kind(section, &key, unknown.name) {
                return message;
            }
            let mut known = keys_of(unknown.name);
            // A key of another rule.
            known.retain(|known| *known != key);
            let suggestion = if unknown.name == "dropout" {
                "; dropout is part of training: set training.dropout.preset, or leave out tokens with training.token_dropout"
                    .to_owned()
            } else if known.is_empty() {
                unknown.suggestion("the keys there are")
            } else {
                format!("; did you mean `{}`?", known.join("` or `"))
            };
            let message = format!("unknown key `{}` {place}{suggestion}", unknown.name);
            return self.locate(&key, &message);
        }
        if path.is_empty() {
            return self.locate(path, message);
        }
        // An element of a list is found with its list.
        let key = path.split('[').next().unwrap_or(path);
        // Serde's path ends at a rule. If a change set a key inside it, that key is likely the mistake.
        let mut latest = self.changes.iter().rev();
        let inside = latest.find(|change| is_within(&change.key, key));
        let key = inside.map_or(key, |change| change.key.as_str());
        let message = match Unknown::parse(message) {
            Some(unknown) => format!(
                "unknown value `{}`{}",
                unknown.name,
                unknown.suggestion("it can be")
            ),
            // A key of several types names these, and not what it has.
            None if message.starts_with("expected ") => {
                let start = Value::Table(self.merged.clone());
                let given = key
                    .split('.')
                    .try_fold(&start, |given, step| given.get(step));
                let given = given.map(|given| format!(", not {given}"));
                message.to_owned() + &given.filter(|given| given.len() < 60).unwrap_or_default()
            }
            None => message.to_owned(),
        };
        self.locate(key, &format!("`{key}`: {message}"))
    }

    /// A section of the config, without lists around it.
    fn table(&self, section: &str) -> Option<&Table> {
        let mut steps = section.split('.');
        steps.try_fold(&self.merged, |table, step| table.get(step)?.as_table())
    }

    /// The message for a key that fits the kind which a section had before a change gave it another kind.
    fn other_kind(&self, section: &str, key: &str, name: &str) -> Option<String> {
        let of_kind = format!("{section}.kind");
        let change = self
            .changes
            .iter()
            .rev()
            .find(|change| change.key == of_kind)?;
        if self.changes.iter().any(|change| change.key == key) {
            return None;
        }
        let given = self.table(section)?;
        let kind = given.get("kind")?.as_str()?;
        let keys = variant_keys(&ExperimentConfig::keys(), section, kind)?;
        let mut kept = vec![format!("kind = \"{kind}\"")];
        kept.extend(keys.into_iter().map(|key| match given.get(key) {
            Some(value) => format!("{key} = {value}"),
            None => format!("{key} = ..."),
        }));
        let flag = change.written.split(' ').next().unwrap_or_default();
        Some(format!(
            "{}: {} sets `{name}`, which this kind does not have; give the whole section: {flag} '{section}={{ {} }}'",
            change.written,
            self.name,
            kept.join(", ")
        ))
    }

    /// A message about a key, with the place or the change that gave its value.
    fn locate(&self, key: &str, message: &str) -> String {
        let mut latest = self.changes.iter().rev();
        // The latest change that set the key or a section that contains it; or one that set a part of it,
        // if the file does not have the key.
        let change = latest.find(|change| {
            is_within(key, &change.key) || is_within(&change.key, key) && self.span(key).is_none()
        });
        let culprit = || self.changes.get(self.culprit?);
        match (change.or_else(culprit), self.span(key)) {
            (Some(change), _) => format!("{}: {message}", change.written),
            (None, Some(span)) => self.at(span, message),
            (None, None) => format!("{}: {message}", self.name),
        }
    }

    /// The place of a key's value in the text, or else of the innermost section around it that exists.
    fn span(&self, key: &str) -> Option<Range<usize>> {
        let document = DeTable::parse(&self.text).ok()?;
        let mut table: &DeTable = document.get_ref();
        let mut found = None;
        let mut steps = key.split('.');
        while let Some(step) = steps.next() {
            let Some((name, value)) = table.iter().find(|(name, _)| name.get_ref() == step) else {
                break;
            };
            found = Some(place(name, value));
            match value.get_ref() {
                DeValue::Table(inner) => table = inner,
                // Of a list of sections, one by its number.
                DeValue::Array(list) => {
                    let number = steps.next().and_then(|step| step.parse::<usize>().ok());
                    let Some(element) = number.and_then(|number| list.get(number)) else {
                        break;
                    };
                    let DeValue::Table(inner) = element.get_ref() else {
                        break;
                    };
                    found = Some(element.span());
                    table = inner;
                }
                _ => break,
            }
        }
        found
    }

    /// `name:line:column: message`, and the line with the place underlined.
    fn at(&self, span: Range<usize>, message: &str) -> String {
        let (line, column) = line_and_column(&self.text, span.start);
        let excerpt = excerpt(&self.text, &span, SHOWN_LIMIT);
        format!("{}:{line}:{column}: {message}{excerpt}", self.name)
    }
}

/// The keys of a config whose last name is this one, or has this usual abbreviation.
pub fn keys_of(name: &str) -> Vec<String> {
    let name = if name == "lr" { "learning_rate" } else { name };
    let keys = paths(ExperimentConfig::keys()).into_iter();
    keys.map(|(key, _)| key)
        .filter(|key| key.rsplit('.').next() == Some(name))
        .collect()
}

/// The value that a key has if a config leaves it out, as TOML and JSON write it; `None` if it then has none.
pub fn default_of(key: &str) -> Option<String> {
    let mut keys = paths(ExperimentConfig::keys()).into_iter();
    keys.find(|(path, _)| path == key)?.1.default
}

/// The keys that a section of this kind must have.
fn variant_keys(keys: &[Key], section: &str, kind: &str) -> Option<Vec<&'static str>> {
    let (first, rest) = section.split_once('.').unwrap_or((section, ""));
    let found = keys.iter().find(|key| key.name == first)?;
    match &found.kind {
        Kind::Section(keys) => variant_keys(keys, rest, kind),
        Kind::Variants(variants) if rest.is_empty() => {
            let variant = variants.iter().find(|variant| variant.name == kind)?;
            let required = variant.keys.iter().filter(|key| key.is_required);
            Some(required.map(|key| key.name).collect())
        }
        _ => None,
    }
}

/// The key of a section that is written as a list, or of a list of sections that is written as one, and what is wrong. Serde
/// would take the values of a rule in the order of its fields.
fn misshapen(given: &Table, keys: &[Key]) -> Option<(String, &'static str)> {
    keys.iter().find_map(|key| {
        let name = key.name;
        let within = |(inner, what): (String, _)| (format!("{name}.{inner}"), what);
        match (&key.kind, given.get(name)?) {
            (Kind::Section(_) | Kind::Variants(_), Value::Array(_)) => Some((
                name.to_owned(),
                "is a list; write it as a section, with keys and values",
            )),
            (Kind::Section(keys), Value::Table(given)) => misshapen(given, keys).map(within),
            (Kind::List(of), given) => match (&**of, given) {
                (Kind::Section(_), Value::Table(_)) => Some((
                    name.to_owned(),
                    "is a list of sections; write its name in double brackets, as in [[tests]]",
                )),
                (Kind::Section(keys), Value::Array(all)) => {
                    let sections = all.iter().enumerate();
                    let mut wrong = sections.filter_map(|(index, section)| {
                        let (inner, what) = misshapen(section.as_table()?, keys)?;
                        Some((format!("{index}.{inner}"), what))
                    });
                    wrong.next().map(within)
                }
                _ => None,
            },
            _ => None,
        }
    })
}

/// The place of a value; for a section, which has many lines, only that of its name.
fn place(name: &Spanned<std::borrow::Cow<'_, str>>, value: &Spanned<DeValue<'_>>) -> Range<usize> {
    match value.get_ref() {
        DeValue::Table(_) => name.span(),
        _ => name.span().start..value.span().end,
    }
}

/// Whether `key` is `section` or is inside it.
fn is_within(key: &str, section: &str) -> bool {
    key.strip_prefix(section)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
