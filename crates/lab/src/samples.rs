//! Samples from the page: those of an experiment, and those to look at.

use std::fmt;

use headlight_data::files::{FitError, listed};
use headlight_data::{Dataset, Source, Splits};
use headlight_experiment::config::ExperimentConfig;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use crate::refusal::told;
#[cfg(feature = "words")]
use crate::texts;

/// Samples in place of the file that a config names, in its order.
#[derive(Debug, Deserialize)]
pub(crate) struct Given {
    /// Without `[CLS]`. `[sample][position]`
    #[serde(default)]
    tokens: Vec<Vec<i64>>,
    /// Numbers or names of classes. `[sample]`
    #[serde(default)]
    labels: Vec<Label>,
    /// Samples are held out unless their split is `train`; without splits, all are for training. `[sample]`
    splits: Option<Vec<String>>,
    /// A file of texts as it is, in place of all these.
    #[cfg(feature = "words")]
    pub(crate) table: Option<String>,
}

/// The samples of an experiment: generated, or given in place of a file.
///
/// # Errors
/// When the config or a sample is invalid.
pub(crate) fn splits(config: &ExperimentConfig, given: Option<&Given>) -> Result<Splits, String> {
    match (&config.data.source, given) {
        (Source::Generated { .. } | Source::Fresh { .. }, None) => {
            let generated = config.data.generate();
            generated.map_err(|invalid| told(&invalid.within("data")))
        }
        #[cfg(feature = "words")]
        (
            Source::File(path),
            Some(Given {
                table: Some(table), ..
            }),
        ) => {
            let rows = texts::rows(table, &config.data.columns, &path.to_string_lossy())?;
            texts::fit(&rows, &config.data, config.model.attention.padding_token)
        }
        (Source::File(_), Some(given)) => given.fit(config),
        (Source::Generated { .. } | Source::Fresh { .. }, Some(_)) => Err(
            "samples were given, but the config generates its own; set data.file, or leave the samples out"
                .to_owned(),
        ),
        (Source::File(path), None) => Err(format!(
            "the samples come from {}, and the request does not hold them",
            path.display()
        )),
    }
}

impl Given {
    /// Checks and splits the samples as those of a file.
    fn fit(&self, config: &ExperimentConfig) -> Result<Splits, String> {
        let count = self.tokens.len();
        let splits = self.splits.as_ref();
        if self.labels.len() != count || splits.is_some_and(|splits| splits.len() != count) {
            return Err("each sample needs a label, and a split if any has one".to_owned());
        }
        let samples = (0..count).map(|index| {
            let split = splits.map_or("train", |splits| &splits[index]);
            (&self.tokens[index][..], &self.labels[index].0[..], split)
        });
        let rows = listed(samples, "the samples").map_err(|error| error.to_string())?;
        let splits = rows.fit(&config.data, config.model.attention.padding_token);
        splits.map_err(|error| match error {
            FitError::Config(invalid) => told(&invalid.within("data")),
            FitError::File(error) => error.to_string(),
        })
    }
}

/// The text of a label, which may be a number.
#[derive(Debug)]
struct Label(String);

impl<'de> Deserialize<'de> for Label {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Label;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a name")
            }

            fn visit_u64<E: Error>(self, label: u64) -> Result<Label, E> {
                Ok(Label(label.to_string()))
            }

            fn visit_i64<E: Error>(self, label: i64) -> Result<Label, E> {
                Ok(Label(label.to_string()))
            }

            fn visit_f64<E: Error>(self, label: f64) -> Result<Label, E> {
                Ok(Label(label.to_string()))
            }

            fn visit_str<E: Error>(self, label: &str) -> Result<Label, E> {
                Ok(Label(label.to_owned()))
            }
        }

        deserializer.deserialize_any(Text)
    }
}

/// What a rule makes of a sample: its class, and the positions that decide it; `None` if the rule does not know it.
type Judged = Option<(u32, Vec<usize>)>;

/// What a rule makes of the samples.
pub(crate) fn judged(config: &ExperimentConfig, samples: &Dataset) -> Option<Vec<Judged>> {
    let rule = config.data.rule.as_ref()?;
    let tokens = (0..samples.len()).map(|sample| samples.tokens(sample));
    let judged = tokens.map(|tokens| {
        let class = rule.label_for(tokens, config.data.cls, config.data.n_classes);
        let known = rule.knows(tokens, config.data.cls);
        known.then(|| (class, rule.label_positions(tokens, config.data.cls)))
    });
    Some(judged.collect())
}
