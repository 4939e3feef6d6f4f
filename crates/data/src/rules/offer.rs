//! How the page offers a kind of rule.

use serde::Serialize;

/// A rule that readers of the page can choose.
#[derive(Clone, Copy, Debug)]
pub struct RuleOffer {
    /// The name of the rule on the page.
    pub title: &'static str,
    /// The question that it asks, after "Can a tiny transformer learn:"; a parameter's name in braces stands for its value.
    pub question: &'static str,
    /// The numbers that readers can change.
    pub parameters: &'static [RuleNumber],
    /// The number of classes at first.
    pub n_classes: usize,
    /// The settings with which the rule is learned, as in the files of `configs`, besides the settings of `notebook.toml`. By chance, few
    /// samples would be positive.
    pub needs: &'static [(&'static str, SettingValue)],
}

/// A number of a rule.
#[derive(Clone, Copy, Debug)]
pub struct RuleNumber {
    /// The key in configs.
    pub key: &'static str,
    /// The name beside the field.
    pub name: &'static str,
    /// What the number counts.
    pub counts: NumberKind,
    /// The first value, as near as vocabulary and length allow.
    pub first: u32,
}

impl RuleNumber {
    pub(super) const fn token(key: &'static str, name: &'static str, first: u32) -> Self {
        Self {
            key,
            name,
            counts: NumberKind::Token,
            first,
        }
    }

    pub(super) const fn position(key: &'static str, name: &'static str, first: u32) -> Self {
        Self {
            counts: NumberKind::Position,
            ..Self::token(key, name, first)
        }
    }
}

/// What a number of a rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NumberKind {
    /// Tokens of the vocabulary.
    Token,
    /// Positions of a sample. Those of one rule differ.
    Position,
}

/// A value of a config.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SettingValue {
    /// A name.
    Name(&'static str),
    /// A whole number.
    Whole(u32),
    /// Any number.
    Real(f64),
}

/// Half of the samples are positive.
pub(super) const HALF_POSITIVE: [(&str, SettingValue); 2] = [
    ("data.generator", SettingValue::Name("chacha")),
    ("data.positive_rate", SettingValue::Real(0.5)),
];
