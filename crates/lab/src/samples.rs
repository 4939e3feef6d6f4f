//! Samples from the page: those of an experiment, and those to look at.

use headlight_data::files;
use headlight_data::{CLS, Dataset, IGNORED, Source, Splits, Task};
use headlight_experiment::config::ExperimentConfig;
use serde::Deserialize;
use serde_json::Value;

use crate::texts;

/// Samples in place of the file that a config names, in its order.
#[derive(Debug, Deserialize)]
pub(crate) struct GivenSamples {
    /// Without `[CLS]`. `[sample][position]`
    #[serde(default)]
    tokens: Vec<Vec<i64>>,
    /// Numbers or names of classes. `[sample]`
    #[serde(default)]
    labels: Vec<Value>,
    /// Samples are held out unless their split is `train`; without splits, all are for training. `[sample]`
    splits: Option<Vec<String>>,
    /// A file of texts as it is, in place of all these.
    pub(crate) table: Option<String>,
}

/// The samples of an experiment: generated, or given in place of a file.
pub(crate) fn splits(
    config: &ExperimentConfig,
    given: Option<&GivenSamples>,
) -> Result<Splits, String> {
    match (&config.data.source, given) {
        (Source::Generated(_), None) => {
            let generated = config.data.generate();
            generated.map_err(|invalid| invalid.within("data").to_string())
        }
        (
            Source::File(path),
            Some(GivenSamples {
                table: Some(table), ..
            }),
        ) => {
            let rows = texts::rows(table, &config.data.columns, &path.to_string_lossy())?;
            texts::fit(&rows, &config.data, config.model.attention.padding_token)
        }
        (Source::File(_), Some(given)) => given.fit(config),
        (Source::Generated(_), Some(_)) => Err(
            "samples were given, but the config generates its own; set data.file, or leave the samples out"
                .to_owned(),
        ),
        (Source::File(path), None) => Err(format!(
            "the samples come from {}, and the request does not hold them",
            path.display()
        )),
    }
}

impl GivenSamples {
    /// Checks and splits the samples as those of a file.
    fn fit(&self, config: &ExperimentConfig) -> Result<Splits, String> {
        let count = self.tokens.len();
        let splits = self.splits.as_ref();
        if self.labels.len() != count || splits.is_some_and(|splits| splits.len() != count) {
            return Err("each sample needs a label; if one has a split, all need one".to_owned());
        }
        let text = |label: &Value| {
            label
                .as_str()
                .map_or_else(|| label.to_string(), str::to_owned)
        };
        let labels: Vec<String> = self.labels.iter().map(text).collect();
        let samples = (0..count).map(|index| {
            let split = splits.map_or("train", |splits| &splits[index]);
            (&self.tokens[index][..], &labels[index][..], split)
        });
        let mut rows = files::tokens(samples, "the samples").map_err(|error| error.message)?;
        // The label of a text whose next token is asked is the token that follows it.
        if config.data.task == Task::NextToken && config.data.words.is_some() {
            let following = labels.iter().map(|label| label.parse());
            let following: Result<Vec<u32>, _> = following.collect();
            rows = rows.followed_by(following.map_err(|_| "a label is no token")?);
        }
        texts::fit(&rows, &config.data, config.model.attention.padding_token)
    }
}

/// What is known of an answer: its class, if it counts, and the positions that decide it.
pub(crate) type Known = (Option<u32>, Vec<usize>);

/// What is known of each answer of a sample with these labels.
pub(crate) fn known(config: &ExperimentConfig, tokens: &[u32], labels: &[u32]) -> Vec<Known> {
    let data = &config.data;
    let answer = |(index, &label): (usize, &u32)| {
        let rule = data.rule.as_ref().filter(|_| label != IGNORED);
        let deciding = rule.map(|rule| rule.deciding_at(tokens, data.cls, index));
        (
            (label != IGNORED).then_some(label),
            deciding.unwrap_or_default(),
        )
    };
    labels.iter().enumerate().map(answer).collect()
}

/// What is known of each answer of samples, from their tokens alone; nothing of a sample that a rule does not know. `None` if
/// tokens tell no labels.
pub(crate) fn judged(config: &ExperimentConfig, samples: &Dataset) -> Option<Vec<Vec<Known>>> {
    let data = &config.data;
    if data.rule.is_none() && data.task != Task::NextToken {
        return None;
    }
    let of_sample = |sample| {
        let tokens = samples.tokens(sample);
        let labels = match &data.rule {
            Some(rule) if !rule.has_label(tokens, data.cls) => Vec::new(),
            Some(rule) => rule.labels_for(tokens, data.cls, data.n_classes),
            None => next_tokens(config, tokens),
        };
        known(config, tokens, &labels)
    };
    Some((0..samples.len()).map(of_sample).collect())
}

/// The token that follows each position; a text ends with `[CLS]`.
fn next_tokens(config: &ExperimentConfig, tokens: &[u32]) -> Vec<u32> {
    let held = config.sample_shape().without_padding(tokens).count();
    let words = config.data.words.as_ref();
    let end = words
        .filter(|words| !words.one_text)
        .map_or(IGNORED, |_| CLS);
    let following = tokens[1..held.max(1)].iter().copied().chain([end]);
    let none = std::iter::repeat(IGNORED);
    following.chain(none).take(tokens.len()).collect()
}
