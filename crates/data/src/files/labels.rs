//! The labels of a file, and the classes that they stand for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::config::{CLASS_LIMIT, DatasetConfig};
use crate::validate::check_class_name;
use crate::words::composed;

/// The whole numbers up to here are different ones in f64 and in JSON.
const NUMBER_LIMIT: i64 = (1 << 53) - 1;

/// The most notes about labels, and the most forms of one label in them.
const MAX_NOTES: usize = 3;

/// A label as a file has it. Numbers come before names, as in a list of classes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Label {
    /// A whole number.
    Number(i64),
    /// Any other text.
    Name(String),
}

impl Label {
    pub(super) fn of_text(text: &str) -> Result<Self, String> {
        let text = &*composed(text.trim());
        if text.parse().is_ok_and(f64::is_finite) {
            return whole_number(text)
                .map(Self::Number)
                .ok_or_else(|| not_a_class(text));
        }
        if text.is_empty() {
            return Err("the label is empty".to_owned());
        }
        check_class_name(text)?;
        Ok(Self::Name(text.to_owned()))
    }

    #[cfg(not(target_family = "wasm"))] // Only npz has labels that are numbers.
    pub(super) fn of_number(number: f64) -> Result<Self, String> {
        let whole = whole_number(&number.to_string()).map(Self::Number);
        whole.ok_or_else(|| not_a_class(number))
    }

    /// The class of this label in a config.
    fn class(&self, config: &DatasetConfig) -> Result<u32, String> {
        let (classes, n_classes) = (&config.classes, config.n_classes);
        let text = self.to_string();
        let named = classes
            .iter()
            .position(|name| Self::of_text(name).as_ref() == Ok(self));
        let numbered = match self {
            Self::Number(_) if numbers_are_names(config) => None,
            Self::Number(number) => usize::try_from(*number).ok(),
            Self::Name(_) => None,
        };
        let class = named.or(numbered).filter(|&class| class < n_classes);
        let class = class.and_then(|class| u32::try_from(class).ok());
        class.ok_or_else(|| match (classes.is_empty(), self) {
            (true, Self::Number(number)) => format!(
                "label {number} is not a class; data.n_classes is {n_classes}, so classes are 0 to {}",
                n_classes - 1
            ),
            (true, Self::Name(name)) => {
                format!("label `{name}` is a name, but data.classes is not set; set it, or remove data.n_classes")
            }
            (false, _) => format!(
                "label `{text}` is not a class; data.classes has {}",
                classes.join(", ")
            ),
        })
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl DatasetConfig {
    /// The class of a name, or else of a number.
    pub fn class_called(&self, name: &str) -> Option<u32> {
        let mut all = 0..self.n_classes as u32;
        let number: Option<u32> = name.parse().ok();
        let number = number.filter(|class| all.contains(class) && !numbers_are_names(self));
        all.find(|&class| self.class_name(class) == name).or(number)
    }
}

/// Whether a label that is a number is the name of a class, and not its number: because some names are numbers.
pub fn numbers_are_names(config: &DatasetConfig) -> bool {
    let mut names = config.classes.iter();
    names.any(|name| whole_number(name).is_some())
}

fn not_a_class(number: impl fmt::Display) -> String {
    format!(
        "label {number} is not a class; write labels as names, or as whole numbers from 0 to {NUMBER_LIMIT}"
    )
}

/// The whole number that a text holds, also as `3.0`, which spreadsheets write; `None` where f64 would round it.
pub(super) fn whole_number(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let number: i64 = whole.parse().ok()?;
    let is_whole = fraction.bytes().all(|digit| digit == b'0');
    (is_whole && number.saturating_abs() <= NUMBER_LIMIT).then_some(number)
}

/// Some of the texts of a label, if there are several.
fn several(texts: &BTreeSet<String>) -> Option<String> {
    let first: Vec<&str> = texts.iter().take(MAX_NOTES).map(String::as_str).collect();
    (first.len() > 1).then(|| first.join("` and `"))
}

/// The different labels of a file. Their indices have the order in which they first appear.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    indices: BTreeMap<Label, u32>,
    /// How the file writes each of them.
    written: BTreeMap<Label, BTreeSet<String>>,
}

impl Labels {
    /// Remembers how the file writes a label.
    pub(super) fn note_written(&mut self, label: &Label, text: String) {
        self.written.entry(label.clone()).or_default().insert(text);
    }

    /// How the file writes a label, if it does so in several ways.
    pub(super) fn written(&self, index: u32) -> Option<String> {
        let (label, _) = self.indices.iter().find(|(_, of)| **of == index)?;
        self.written.get(label).and_then(several)
    }

    /// What a reader should know, as sentences: labels that are one class although they are written differently, those that are two
    /// although they hardly differ, and numbers without the zeros that the file gives them.
    pub(super) fn notes(&self) -> Vec<String> {
        let same = self.written.values().filter_map(several).map(|texts| {
            format!("the labels `{texts}` are read as one class; spell them the same way")
        });
        let mut folded = BTreeMap::new();
        let alike = self.indices.keys().filter_map(|label| {
            let label = label.to_string();
            let key = label.split_whitespace().collect::<String>().to_lowercase();
            let other = folded.insert(key, label.clone())?;
            Some(format!(
                "the classes `{other}` and `{label}` differ only in case or blanks; if they are one, write them alike"
            ))
        });
        let padded = self.written.iter().find_map(|(label, texts)| {
            let Label::Number(number @ 1..) = label else {
                return None;
            };
            let with_zero = format!("0{number}");
            let text = texts.iter().find(|text| text.contains(&with_zero))?;
            Some(format!(
                "labels that are numbers lose their leading zeros: `{text}` is class `{number}`; to keep the zeros, put a letter before each label"
            ))
        });
        same.chain(alike).chain(padded).take(MAX_NOTES).collect()
    }

    /// The index of a label; a new label gets the next one.
    pub(super) fn index(&mut self, label: Label) -> Result<u32, String> {
        if let Some(&index) = self.indices.get(&label) {
            return Ok(index);
        }
        if self.indices.len() == CLASS_LIMIT {
            return Err(format!(
                "there are more than {CLASS_LIMIT} different labels; a label is a class, not a measured value"
            ));
        }
        let index = self.indices.len() as u32;
        self.indices.insert(label, index);
        Ok(index)
    }

    /// Number of different labels.
    pub(super) fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether all labels are numbers.
    pub(super) fn are_numbers(&self) -> bool {
        let is_number = |label: &Label| matches!(label, Label::Number(_));
        self.indices.keys().all(is_number)
    }

    /// Whether a label is a number, where classes have names and this is none of them.
    pub(super) fn has_number(&self, classes: &[String]) -> bool {
        let is_name = |label: &Label| classes.contains(&label.to_string());
        let is_number = |label: &&Label| matches!(label, Label::Number(_));
        let mut numbers = self.indices.keys().filter(is_number);
        !classes.is_empty() && !numbers.all(is_name)
    }

    /// A number and a name, if there are both.
    pub(super) fn mixed(&self) -> Option<(&Label, &Label)> {
        let (first, last) = (
            self.indices.keys().next()?,
            self.indices.keys().next_back()?,
        );
        // Numbers come before names.
        let is_mixed = matches!((first, last), (Label::Number(_), Label::Name(_)));
        is_mixed.then_some((first, last))
    }

    /// The names of the classes, in order; empty if the labels are 0, 1, and so on, the classes themselves.
    pub(super) fn names(&self) -> Vec<String> {
        let labels = self.indices.keys();
        let themselves = (0..).map(Label::Number);
        if labels.clone().zip(themselves).all(|(a, b)| *a == b) {
            return Vec::new();
        }
        labels.map(Label::to_string).collect()
    }

    /// The class of each label in a config, or why it has none. `[index]`
    pub(super) fn classes(&self, config: &DatasetConfig) -> Vec<Result<u32, String>> {
        let mut classes = vec![Ok(0); self.indices.len()];
        for (label, &index) in &self.indices {
            classes[index as usize] = label.class(config);
        }
        classes
    }

    /// The text of a label.
    pub(super) fn text(&self, index: u32) -> String {
        let mut all = self.indices.iter();
        let found = all.find(|(_, of)| **of == index);
        found.map_or_else(String::new, |(label, _)| label.to_string())
    }
}
