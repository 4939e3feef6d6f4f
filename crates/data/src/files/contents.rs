//! What the writers of all formats write: splits, with the names of classes and without padding.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::config::DatasetConfig;
use crate::dataset::Splits;
use crate::shape::SampleShape;

/// Splits, and the config that gives them their meaning.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// The samples.
    pub splits: &'a Splits,
    /// Their config.
    pub config: &'a DatasetConfig,
    /// The token that pads them.
    pub padding_token: Option<u32>,
}

/// A sample of a file.
pub(super) struct Sample<'a, T> {
    pub(super) split: &'static str,
    pub(super) class: Class<'a>,
    pub(super) tokens: T,
    /// Its words, in place of its tokens.
    pub(super) text: Option<String>,
    /// Its values of columns, in place of its tokens; empty if it has none. An unknown value is empty.
    pub(super) values: Vec<&'a str>,
}

/// A class as files have it: by number, or by name.
pub(super) enum Class<'a> {
    Number(u8),
    Name(&'a str),
}

impl fmt::Display for Class<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl Serialize for Class<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u8(*number),
            Self::Name(name) => serializer.serialize_str(name),
        }
    }
}

impl<'a> Contents<'a> {
    /// All samples, those of training first.
    pub(super) fn samples(
        self,
    ) -> impl Iterator<Item = Sample<'a, impl Iterator<Item = u32> + 'a>> {
        let shape = SampleShape::new(self.config, self.padding_token);
        let features = &self.config.columns.features;
        let words = self.config.words.as_ref();
        let texts = words.filter(|_| features.is_empty());
        let values = words.filter(|_| !features.is_empty());
        let named = [
            ("train", &self.splits.train),
            ("held_out", &self.splits.held_out),
        ];
        named.into_iter().flat_map(move |(split, dataset)| {
            (0..dataset.len()).map(move |sample| {
                let class = dataset.label(sample);
                let name = self.config.classes.get(usize::from(class));
                Sample {
                    split,
                    class: name.map_or(Class::Number(class), |name| Class::Name(name)),
                    tokens: shape.without_padding(dataset.tokens(sample)),
                    text: texts.map(|words| words.join(dataset.tokens(sample))),
                    values: values.map_or_else(Vec::new, |words| {
                        let tokens = shape.cls.without(dataset.tokens(sample)).iter();
                        let values = tokens.zip(features).map(|(&token, name)| {
                            let own = words.text(token).strip_prefix(name.as_str());
                            own.and_then(|own| own.strip_prefix('='))
                                .unwrap_or_default()
                        });
                        values.collect()
                    }),
                }
            })
        })
    }
}
