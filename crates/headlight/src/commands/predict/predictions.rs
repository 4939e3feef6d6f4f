//! The predictions for the samples of a dataset, as cells of a table and as keys of an object.

use std::{fmt, io};

use headlight_data::{CLS, Dataset, DatasetConfig, IGNORED, Task};
use headlight_experiment::evaluate::predict_each;
use headlight_experiment::metrics::predicted_class;
use headlight_experiment::{Error, Predictor};
use headlight_inspector::counted;
use headlight_trainer::Failure;
use serde_json::{Value, json};

/// The samples that were classified, and how many of them correctly; `None` if they have no labels.
#[derive(Default)]
pub(super) struct Count {
    pub(super) samples: usize,
    pub(super) correct: Option<usize>,
    /// Whether each sample has several answers, all of which must be correct.
    pub(super) are_whole: bool,
    /// On how many of them the model was trained, if it is known and not 0.
    pub(super) trained: Option<usize>,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} classified", counted(self.samples, "sample"))?;
        let Some(correct) = self.correct else {
            return Ok(());
        };
        let share = 100.0 * correct as f64 / self.samples as f64;
        if self.are_whole {
            write!(f, ", {share:.2}% of them with each answer correct")
        } else {
            write!(f, ", {share:.2}% of them correctly")
        }
    }
}

/// Why predictions were not written.
pub(super) enum NotWritten {
    Io(io::Error),
    Refused(Failure),
}

impl From<io::Error> for NotWritten {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for NotWritten {
    fn from(error: Error) -> Self {
        Self::Refused(error.into())
    }
}

impl From<Failure> for NotWritten {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

impl From<csv::Error> for NotWritten {
    fn from(error: csv::Error) -> Self {
        // A closed pipe is known by its kind.
        Self::Io(match error.into_kind() {
            csv::ErrorKind::Io(error) => error,
            other => io::Error::other(format!("{other:?}")),
        })
    }
}

/// The samples that are predicted.
pub(super) struct Predictions<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) config: &'a DatasetConfig,
    pub(super) padding: Option<u32>,
    pub(super) labelled: bool,
}

/// A sample with the model's prediction.
pub(super) struct Predicted<'a> {
    pub(super) sample: usize,
    class: u32,
    /// Of class 1 for two classes without names; else of each class. Empty with an answer per position.
    probabilities: Vec<f32>,
    /// With an answer per position: the class at each position, and the logarithm of its label's probability; `None` where none
    /// counts. Else empty.
    each: Vec<Option<(u32, f64)>>,
    label: Option<u32>,
    tokens: &'a [u32],
}

impl Predictions<'_> {
    /// Classifies each sample, in order.
    pub(super) fn each(
        &self,
        predictor: &mut dyn Predictor,
        mut write: impl FnMut(Predicted<'_>) -> Result<(), NotWritten>,
    ) -> Result<Count, NotWritten> {
        let mut count = Count {
            samples: self.dataset.len(),
            // Of texts that go on, the most probable token is not the only right one.
            correct: (self.labelled && self.config.task != Task::NextToken).then_some(0),
            are_whole: self.dataset.is_per_position(),
            trained: None,
        };
        let mut each = Vec::new();
        predict_each(predictor, self.dataset, |found| {
            let (sample, predicted) = (found.sample, predicted_class(found.logits));
            if self.dataset.is_per_position() {
                let label = self.dataset.labels_of(sample)[found.place];
                let counts = label != IGNORED || !self.labelled;
                if self.is_answered(self.dataset.tokens(sample)[found.place]) {
                    each.push(counts.then_some((predicted, -found.loss)));
                }
                if found.place + 1 < self.dataset.positions() {
                    return Ok(());
                }
                let all = std::mem::take(&mut each);
                let tokens = self.dataset.tokens(sample);
                let labels = self.dataset.labels_of(sample).iter().zip(tokens);
                let labels = labels.filter(|(_, token)| self.is_answered(**token));
                let mut pairs = labels.map(|(label, _)| label).zip(&all);
                let is_right = pairs.all(|(&label, own)| {
                    label == IGNORED || own.is_some_and(|(class, _)| class == label)
                });
                if let Some(correct) = &mut count.correct {
                    *correct += usize::from(is_right);
                }
                return write(Predicted {
                    sample,
                    class: predicted,
                    probabilities: Vec::new(),
                    each: all,
                    label: None,
                    tokens: self.dataset.tokens(sample),
                });
            }
            let label = self.dataset.label(sample);
            if let Some(correct) = &mut count.correct {
                *correct += usize::from(predicted == label);
            }
            let probabilities = match found.probabilities {
                &[second] if self.has_names() => vec![(1.0 - second) as f32, second as f32],
                // A logit for each of two classes is written as one logit is.
                &[_, second] if !self.has_names() => vec![second as f32],
                all => all.iter().map(|&probability| probability as f32).collect(),
            };
            write(Predicted {
                sample,
                class: predicted,
                probabilities,
                each: Vec::new(),
                label: self.labelled.then_some(label),
                tokens: self.dataset.tokens(sample),
            })
        })?;
        Ok(count)
    }

    /// Whether predictions list the answer at a token: not at padding, and at `[CLS]` only where it asks for the first token.
    fn is_answered(&self, token: u32) -> bool {
        let is_cls = token == CLS && self.config.cls.is_somewhere();
        Some(token) != self.padding && (!is_cls || self.config.task == Task::NextToken)
    }

    fn has_names(&self) -> bool {
        !self.config.classes.is_empty()
    }

    /// The cells of a prediction.
    pub(super) fn cells(&self, row: &Predicted<'_>) -> Vec<String> {
        if self.dataset.is_per_position() {
            let class = |own: &Option<(u32, f64)>| {
                own.map_or_else(
                    || "-".to_owned(),
                    |(class, _)| self.config.class_name(class),
                )
            };
            let all: Vec<String> = row.each.iter().map(class).collect();
            return vec![all.join(" ")];
        }
        let mut cells = vec![self.config.class_name(row.class)];
        cells.extend(row.probabilities.iter().map(f32::to_string));
        cells
    }

    /// The names of what a sample without columns of its own has after its prediction.
    pub(super) fn names_after(&self) -> Vec<String> {
        let has_label = self.labelled && !self.dataset.is_per_position();
        let label = has_label.then(|| "label".to_owned()).into_iter();
        let tokens = if self.config.words.is_some() {
            vec!["text".to_owned()]
        } else {
            let positions = 0..self.dataset.positions();
            positions.map(|place| format!("token_{place}")).collect()
        };
        label.chain(tokens).collect()
    }

    /// What a sample without columns of its own has after its prediction: its label, and its text or its tokens.
    pub(super) fn cells_after(&self, row: &Predicted<'_>) -> Vec<String> {
        let label = row.label.map(|class| self.config.class_name(class));
        let tokens = match self.text(row) {
            Some(text) => vec![text],
            None => row.tokens.iter().map(u32::to_string).collect(),
        };
        label.into_iter().chain(tokens).collect()
    }

    /// The keys of a prediction, for an object.
    pub(super) fn keys(&self, row: &Predicted<'_>) -> String {
        if self.dataset.is_per_position() {
            let class =
                |own: &Option<(u32, f64)>| own.map(|(class, _)| class_value(self.config, class));
            let all: Vec<Option<Value>> = row.each.iter().map(class).collect();
            let predicted = format!(r#""predicted":{}"#, json!(all));
            if !self.labelled {
                return predicted;
            }
            let logs = row.each.iter().map(|own| own.map(|(_, log)| log));
            let logs: Vec<Option<f64>> = logs.collect();
            return format!(r#"{predicted},"log_probabilities":{}"#, json!(logs));
        }
        let predicted = class_value(self.config, row.class);
        let probabilities = &row.probabilities;
        let probabilities = match &probabilities[..] {
            [probability] => format!(r#""probability":{probability}"#),
            _ if self.has_names() => {
                let named = self.config.classes.iter().zip(probabilities);
                let named = named.map(|(name, p)| format!("{}:{p}", Value::from(name.as_str())));
                let named = named.collect::<Vec<_>>().join(",");
                format!(r#""probabilities":{{{named}}}"#)
            }
            several => format!(r#""probabilities":{several:?}"#),
        };
        format!(r#""predicted":{predicted},{probabilities}"#)
    }

    /// As [`cells_after`](Self::cells_after), for an object.
    pub(super) fn keys_after(&self, row: &Predicted<'_>) -> String {
        let label = row.label.map(|class| class_value(self.config, class));
        let label = label.map(|label| format!(r#","label":{label}"#));
        let text = self.text(row);
        let text = text.map(|text| format!(r#","text":{}"#, Value::from(text)));
        let all = !self.dataset.is_per_position();
        let tokens = row.tokens.iter().copied();
        let tokens: Vec<u32> = tokens
            .filter(|&token| all || self.is_answered(token))
            .collect();
        format!(
            r#"{}{},"tokens":{tokens:?}"#,
            label.unwrap_or_default(),
            text.unwrap_or_default()
        )
    }

    /// The words of a sample as the model takes them.
    fn text(&self, row: &Predicted<'_>) -> Option<String> {
        let words = self.config.words.as_ref()?;
        Some(words.join(row.tokens))
    }
}

/// The columns of a prediction.
pub(super) fn prediction_names(config: &DatasetConfig) -> Vec<String> {
    let mut names = vec!["predicted".to_owned()];
    if config.task.is_per_position() {
        return names;
    }
    if config.n_classes == 2 && config.classes.is_empty() {
        names.push("probability".to_owned());
    } else {
        let classes = (0..).take(config.n_classes);
        names.extend(classes.map(|class| format!("probability_{}", config.class_name(class))));
    }
    names
}

/// A class in JSON: its name, or its number if classes have no names.
pub(super) fn class_value(config: &DatasetConfig, class: u32) -> Value {
    match config.classes.get(class as usize) {
        Some(name) => name.as_str().into(),
        None if config.task == Task::NextToken && config.words.is_some() => {
            config.class_name(class).into()
        }
        None => class.into(),
    }
}
