//! What is known of a config key.

use std::path::PathBuf;

use serde::Serialize;

use crate::{InvalidValue, Range};

/// A key of a section.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The name in the section.
    pub name: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// The values that are valid, if not all of its kind are.
    pub range: Option<Range>,
    /// Whether a config must have it.
    pub is_required: bool,
    /// The value that it has if it is left out, as TOML and JSON write it; `None` if it then has none.
    pub default: Option<String>,
    /// What it does.
    pub sentence: String,
}

/// What the value of a key is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A whole number, 0 or more.
    Whole,
    /// A number.
    Number,
    /// `true` or `false`.
    Switch,
    /// A text.
    Text,
    /// The path of a file.
    Path,
    /// One of these names.
    Choice(Vec<Choice>),
    /// A list of such values.
    List(Box<Kind>),
    /// A table: the user chooses the names, and each value is of this kind.
    Table(Box<Kind>),
    /// A value of one of these kinds.
    Either(Vec<Kind>),
    /// A section with these keys.
    Section(Vec<Key>),
    /// A section whose key `kind` names the variant, which says what its other keys are.
    Variants(Vec<Variant>),
}

/// A value that a config writes as a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The name.
    pub name: String,
    /// What it means.
    pub sentence: String,
}

/// A form that a section can have.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The value of the key `kind`.
    pub name: &'static str,
    /// What it means.
    pub sentence: String,
    /// Its other keys.
    pub keys: Vec<Key>,
}

/// A type of values that configs hold.
pub trait Value: Serialize {
    /// What such a value is.
    fn kind() -> Kind;

    /// The value as TOML and JSON write it; `None` for a section, and for a value that is unset.
    fn written(&self) -> Option<String> {
        use serde_json::Value::{Bool, Number, String};
        let written = serde_json::to_value(self).ok()?;
        matches!(written, Bool(_) | Number(_) | String(_)).then(|| written.to_string())
    }

    /// The value as a number, which a [`Range`] may limit; `None` if it is none, or unset.
    fn number(&self) -> Option<f64> {
        serde_json::to_value(self).ok()?.as_f64()
    }
}

macro_rules! values {
    ($($type:ty, $kind:ident;)*) => {$(
        impl Value for $type {
            fn kind() -> Kind {
                Kind::$kind
            }
        }
    )*};
}

values! {
    u32, Whole;
    u64, Whole;
    usize, Whole;
    bool, Switch;
    String, Text;
    PathBuf, Path;
}

impl Value for f64 {
    fn kind() -> Kind {
        Kind::Number
    }

    /// JSON has no nan, which a range refuses.
    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl<T: Value> Value for Option<T> {
    fn kind() -> Kind {
        T::kind()
    }

    fn number(&self) -> Option<f64> {
        self.as_ref()?.number()
    }
}

impl<T: Value> Value for Vec<T> {
    fn kind() -> Kind {
        Kind::List(Box::new(T::kind()))
    }

    fn written(&self) -> Option<String> {
        let values: Vec<String> = self.iter().filter_map(Value::written).collect();
        Some(format!("[{}]", values.join(", ")))
    }
}

impl Range {
    /// Checks the value of a key.
    ///
    /// # Errors
    /// When it is not in the interval. The message says what the interval is.
    pub fn check(&self, key: &str, value: &impl Value) -> Result<(), InvalidValue> {
        if value.number().is_none_or(|number| self.contains(number)) {
            return Ok(());
        }
        let number = || value.number().map(|number| number.to_string());
        let written = value.written().or_else(number).unwrap_or_default();
        let mut message = format!("{key} is {written}; it must be {self}");
        if !self.hint.is_empty() {
            message = format!("{message} ({})", self.hint);
        } else if self.in_float32 && self.to.is_infinite() {
            message += " (float32 holds 1e-45 to 3.4e38)";
        }
        Err(InvalidValue::new(key, message))
    }
}

/// All keys under their full names, such as `training.epochs`, in their order: those of sections, and those of variants
/// after the key that holds them.
pub fn paths(keys: Vec<Key>) -> Vec<(String, Key)> {
    let mut paths: Vec<(String, Key)> = Vec::new();
    for key in keys {
        let name = key.name;
        let inner = match &key.kind {
            Kind::Section(keys) => keys.clone(),
            Kind::Variants(variants) => {
                paths.push((name.to_owned(), key.clone()));
                let tag = Key {
                    name: "kind",
                    kind: Kind::Choice(variants.iter().map(Variant::choice).collect()),
                    is_required: true,
                    ..key.clone()
                };
                let others = variants.iter().flat_map(|variant| variant.keys.clone());
                std::iter::once(tag).chain(others).collect()
            }
            _ => {
                paths.push((name.to_owned(), key));
                continue;
            }
        };
        for (path, key) in self::paths(inner) {
            let path = format!("{name}.{path}");
            if paths.iter().all(|(other, _)| *other != path) {
                paths.push((path, key));
            }
        }
    }
    paths
}

impl Variant {
    /// The variant as a value of the key `kind`.
    fn choice(&self) -> Choice {
        Choice {
            name: self.name.to_owned(),
            sentence: self.sentence.clone(),
        }
    }
}
