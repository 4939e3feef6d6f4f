//! The labels of a file, and the classes that they stand for.

use std::collections::BTreeMap;
use std::fmt;

use crate::config::{CLASS_LIMIT, DatasetConfig, check_name};

/// The largest whole number that f64 and JSON hold exactly.
const NUMBER_LIMIT: f64 = 9_007_199_254_740_992.0;

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
        let text = text.trim();
        if let Some(number) = text.parse().ok().filter(|number: &f64| number.is_finite()) {
            return Self::of_number(number);
        }
        if text.is_empty() {
            return Err("the label is empty".to_owned());
        }
        check_name(text)?;
        Ok(Self::Name(text.to_owned()))
    }

    pub(super) fn of_number(number: f64) -> Result<Self, String> {
        let whole = whole(number).map(Self::Number);
        whole.ok_or_else(|| {
            format!("label {number} is not a class; labels are whole numbers or names")
        })
    }

    /// The class of this label in a config.
    fn class(&self, config: &DatasetConfig) -> Result<u8, String> {
        let (classes, n_classes) = (&config.classes, config.n_classes);
        let text = self.to_string();
        let named = classes.iter().position(|name| *name == text);
        let numbered = match self {
            Self::Number(_) if numbers_are_names(config) => None,
            Self::Number(number) => usize::try_from(*number).ok(),
            Self::Name(_) => None,
        };
        let class = named.or(numbered).filter(|&class| class < n_classes);
        let class = class.and_then(|class| u8::try_from(class).ok());
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

/// Whether a label that is a number is the name of a class, and not its number: because some names are numbers.
pub fn numbers_are_names(config: &DatasetConfig) -> bool {
    let mut names = config.classes.iter();
    names.any(|name| whole_number(name).is_some())
}

/// The whole number that a text holds, also as `3.0`, which spreadsheets write.
pub(super) fn whole_number(text: &str) -> Option<i64> {
    whole(text.parse().ok()?)
}

fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= NUMBER_LIMIT).then_some(number as i64)
}

/// The different labels of a file, in the order in which they first appear.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    indices: BTreeMap<Label, u8>,
}

impl Labels {
    /// The index of a label; a new label gets the next one.
    pub(super) fn index(&mut self, label: Label) -> Result<u8, String> {
        if let Some(&index) = self.indices.get(&label) {
            return Ok(index);
        }
        let index = u8::try_from(self.indices.len()).map_err(|_| {
            format!(
                "there are more than {CLASS_LIMIT} different labels; a label is a class, not a measured value"
            )
        })?;
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

    /// A number and a name, if there are both.
    #[cfg(feature = "files")]
    pub(super) fn mixed(&self) -> Option<(i64, &str)> {
        let numbers = self.indices.keys().find_map(|label| match label {
            Label::Number(number) => Some(*number),
            Label::Name(_) => None,
        });
        let names = self.indices.keys().find_map(|label| match label {
            Label::Number(_) => None,
            Label::Name(name) => Some(name.as_str()),
        });
        numbers.zip(names)
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
    pub(super) fn classes(&self, config: &DatasetConfig) -> Vec<Result<u8, String>> {
        let mut classes = vec![Ok(0); self.indices.len()];
        for (label, &index) in &self.indices {
            classes[usize::from(index)] = label.class(config);
        }
        classes
    }

    /// The text of a label.
    pub(super) fn text(&self, index: u8) -> String {
        let mut all = self.indices.iter();
        let found = all.find(|(_, of)| **of == index);
        found.map_or_else(String::new, |(label, _)| label.to_string())
    }
}
