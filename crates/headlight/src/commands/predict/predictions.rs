//! The predictions for the samples of a dataset, as cells of a table and as keys of an object.

use std::fmt;
use std::mem::take;

use headlight_data::{CLS, Dataset, DatasetConfig, IGNORED, Task};
use headlight_experiment::evaluate::predict_each;
use headlight_experiment::metrics::predicted_class;
use headlight_experiment::{Error, Predictor};
use headlight_report::counted;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// The samples that were classified, and how many of them correctly; `None` if they have no labels.
pub(super) struct Count {
    pub(super) samples: usize,
    pub(super) correct: Option<usize>,
    /// How many of them have a label that counts.
    labelled: usize,
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
        let share = 100.0 * correct as f64 / self.labelled as f64;
        let which = match self.labelled {
            labelled if labelled == self.samples => "them".to_owned(),
            labelled => format!("the {labelled} with labels"),
        };
        if self.are_whole {
            write!(f, ", {share:.2}% of {which} with every answer correct")
        } else {
            write!(f, ", {share:.2}% of {which} correctly")
        }
    }
}

/// Samples, and what the model predicts for each.
pub(super) struct Predictions<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) config: &'a DatasetConfig,
    padding: Option<u32>,
    labelled: bool,
    predicted: Vec<Prediction>,
}

struct Prediction {
    class: u32,
    /// Of class 1 for two classes without names; else of each class. Empty with an answer per position.
    probabilities: Vec<f32>,
    /// With an answer per position: the class at each position, and the logarithm of its label's probability; `None` where none
    /// counts. Else empty.
    each: Vec<Option<(u32, f64)>>,
}

impl<'a> Predictions<'a> {
    /// Classifies each sample.
    pub(super) fn of(
        dataset: &'a Dataset,
        config: &'a DatasetConfig,
        padding: Option<u32>,
        labelled: bool,
        predictor: &mut dyn Predictor,
    ) -> Result<Self, Error> {
        let mut all = Self {
            dataset,
            config,
            padding,
            labelled,
            predicted: Vec::with_capacity(dataset.len()),
        };
        let mut each = Vec::new();
        predict_each(predictor, dataset, |found| {
            let class = predicted_class(found.logits);
            if dataset.is_per_position() {
                let label = dataset.labels_of(found.sample)[found.position];
                let counts = label != IGNORED || !labelled;
                if all.is_answered(dataset.tokens(found.sample)[found.position]) {
                    each.push(counts.then_some((class, -found.loss)));
                }
            }
            if found.position + 1 < dataset.labels_per_sample() {
                return Ok(());
            }
            let probabilities = match found.probabilities {
                _ if dataset.is_per_position() => Vec::new(),
                &[second] if all.has_names() => vec![(1.0 - second) as f32, second as f32],
                // A logit for each of two classes is written as one logit is.
                &[_, second] if !all.has_names() => vec![second as f32],
                several => several.iter().map(|&one| one as f32).collect(),
            };
            all.predicted.push(Prediction {
                class,
                probabilities,
                each: take(&mut each),
            });
            Ok::<_, Error>(())
        })?;
        Ok(all)
    }

    /// How many samples there are, and how many of those with labels were classified correctly.
    pub(super) fn count(&self, trained: Option<usize>) -> Count {
        // Of texts that go on, the most probable token is not the only right one.
        let is_judged = self.labelled && self.config.task != Task::NextToken;
        let counts =
            |sample: &usize| is_judged && self.dataset.counted_labels(*sample).next().is_some();
        let judged: Vec<usize> = (0..self.dataset.len()).filter(counts).collect();
        let right = judged.iter().filter(|&&sample| self.is_right(sample));
        Count {
            samples: self.dataset.len(),
            correct: (!judged.is_empty()).then(|| right.count()),
            labelled: judged.len(),
            are_whole: self.dataset.is_per_position(),
            trained,
        }
    }

    fn is_right(&self, sample: usize) -> bool {
        let prediction = &self.predicted[sample];
        if !self.dataset.is_per_position() {
            return prediction.class == self.dataset.label(sample);
        }
        let (labels, tokens) = (self.dataset.labels_of(sample), self.dataset.tokens(sample));
        let answered = labels
            .iter()
            .zip(tokens)
            .filter(|(_, token)| self.is_answered(**token));
        answered.zip(&prediction.each).all(|((&label, _), answer)| {
            label == IGNORED || answer.is_some_and(|(class, _)| class == label)
        })
    }

    /// Whether predictions list the answer at a token: not at padding, and at `[CLS]` only where it asks for the first token.
    fn is_answered(&self, token: u32) -> bool {
        let is_cls = token == CLS && self.config.cls.is_present();
        Some(token) != self.padding && (!is_cls || self.config.task == Task::NextToken)
    }

    fn has_names(&self) -> bool {
        !self.config.classes.is_empty()
    }

    /// The cells of a prediction.
    pub(super) fn cells(&self, sample: usize) -> Vec<String> {
        let prediction = &self.predicted[sample];
        if self.dataset.is_per_position() {
            let class = |answer: &Option<(u32, f64)>| match answer {
                Some((class, _)) => self.config.class_name(*class),
                None => "-".to_owned(),
            };
            let all: Vec<String> = prediction.each.iter().map(class).collect();
            return vec![all.join(" ")];
        }
        let mut cells = vec![self.config.class_name(prediction.class)];
        cells.extend(prediction.probabilities.iter().map(f32::to_string));
        cells
    }

    /// The names of what a sample without columns of its own has after its prediction.
    pub(super) fn names_after(&self) -> Vec<String> {
        let mut names = Vec::new();
        if self.has_label() {
            names.push("label".to_owned());
        }
        if self.config.words.is_some() {
            names.push("text".to_owned());
        } else {
            names.extend((0..self.dataset.positions()).map(|position| format!("token_{position}")));
        }
        names
    }

    fn has_label(&self) -> bool {
        self.labelled && !self.dataset.is_per_position()
    }

    /// What a sample without columns of its own has after its prediction: its label, and its text or its tokens.
    pub(super) fn cells_after(&self, sample: usize) -> Vec<String> {
        let mut cells = Vec::new();
        if self.has_label() {
            cells.push(self.config.class_name(self.dataset.label(sample)));
        }
        let tokens = self.dataset.tokens(sample);
        match &self.config.words {
            Some(words) => cells.push(words.join(tokens)),
            None => cells.extend(tokens.iter().map(u32::to_string)),
        }
        cells
    }

    /// A class as a row writes its label, such as `like`: as text, or as the number or boolean that its name is.
    fn class_like(&self, class: u32, like: Option<&Value>) -> Value {
        let name = || self.config.class_name(class);
        let typed = match like {
            Some(Value::String(_)) => Some(name().into()),
            Some(Value::Bool(_) | Value::Number(_)) => serde_json::from_str(&name()).ok(),
            _ => None,
        };
        let typed = typed.filter(|typed: &Value| !typed.is_null());
        typed.unwrap_or_else(|| class_value(self.config, class))
    }

    /// The prediction as an object; `like` is a label of its row, if it has one, and `is_bare` says that the sample has no columns
    /// of its own.
    pub(super) fn object(
        &self,
        sample: usize,
        like: Option<&Value>,
        is_bare: bool,
    ) -> PredictionObject<'_> {
        let prediction = &self.predicted[sample];
        let value = |class| self.class_like(class, like);
        let classes = &self.config.classes;
        let mut object = PredictionObject {
            predicted: value(prediction.class),
            ..PredictionObject::default()
        };
        match &prediction.probabilities[..] {
            _ if self.dataset.is_per_position() => {
                let all = prediction.each.iter();
                let all = all.map(|answer| answer.map_or(Value::Null, |(class, _)| value(class)));
                object.predicted = all.collect();
                let logs = prediction.each.iter().map(|one| one.map(|(_, log)| log));
                object.log_probabilities = self.labelled.then(|| logs.collect());
            }
            [probability] => object.probability = Some(*probability),
            several if classes.is_empty() => {
                object.probabilities = Some(Probabilities::Each(several));
            }
            several => object.probabilities = Some(Probabilities::Named(classes, several)),
        }
        if !is_bare {
            return object;
        }
        let mut tokens = self.dataset.tokens(sample).to_vec();
        object.sample = Some(sample);
        object.label = self.has_label().then(|| value(self.dataset.label(sample)));
        // The words as the model takes them.
        let words = self.config.words.as_ref();
        object.text = words.map(|words| words.join(&tokens));
        if self.dataset.is_per_position() {
            tokens.retain(|&token| self.is_answered(token));
        }
        object.tokens = Some(tokens);
        object
    }
}

/// A prediction in JSON.
#[derive(Default, Serialize)]
pub(super) struct PredictionObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<usize>,
    predicted: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_probabilities: Option<Vec<Option<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probabilities: Option<Probabilities<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Vec<u32>>,
}

enum Probabilities<'a> {
    Each(&'a [f32]),
    /// By the names of the classes, in their order.
    Named(&'a [String], &'a [f32]),
}

impl Serialize for Probabilities<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Each(all) => all.serialize(serializer),
            Self::Named(names, all) => serializer.collect_map(names.iter().zip(all)),
        }
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
