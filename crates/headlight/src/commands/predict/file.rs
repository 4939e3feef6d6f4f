//! `headlight predict --tokens FILE`: classifies the samples of a file, one row each.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use headlight_data::files::{self, write_header};
use headlight_data::{CLS, Dataset, DatasetConfig, IGNORED, Task};
use headlight_experiment::evaluate::predict_each;
use headlight_experiment::metrics::predicted_class;
use headlight_experiment::{Error, Predictor};
use headlight_inspector::counted;
use headlight_trainer::Failure;
use headlight_trainer::storage::outputs::Output;
use headlight_trainer::storage::samples;
use serde_json::Value;

use crate::commands::model::RunModel;
use crate::printing::note;

/// The format of predictions.
#[derive(Clone, Copy, PartialEq)]
enum Format {
    Csv,
    Jsonl,
}

/// The samples that were classified, and how many of them correctly; `None` if they have no labels.
#[derive(Default)]
pub(super) struct Count {
    pub(super) samples: usize,
    pub(super) correct: Option<usize>,
    /// Whether each sample has several answers, all of which must be correct.
    are_whole: bool,
    /// On how many of them the model was trained, if it is known and not 0.
    pub(super) trained: Option<usize>,
}

/// Writes predictions for all samples of the file `tokens`: to `out`, as CSV to standard output.
///
/// # Errors
/// When the samples do not match the config, the model's output is not finite, or the predictions cannot be written.
pub(super) fn write(model: RunModel, tokens: &Path, out: Output<'_>) -> Result<Count, Failure> {
    let extension = out.named("-.csv").extension();
    let format = match extension.and_then(|extension| extension.to_str()) {
        Some("csv") => Format::Csv,
        Some("jsonl") => Format::Jsonl,
        _ => {
            let message = "--out: unknown file extension; use .csv or .jsonl";
            return Err(Failure::Input(message.to_owned()));
        }
    };
    let samples = samples::read(tokens, &model.config)?;
    write_rows(model, samples, out, |rows, predictor, file| {
        rows.write(format, predictor, file)
    })
}

/// Writes the predictions for the samples that were read to `out`, as `write` does that.
pub(super) fn write_rows(
    model: RunModel,
    (dataset, labelled, read): (Dataset, bool, files::Rows),
    out: Output<'_>,
    mut write: impl FnMut(&Rows<'_>, &mut dyn Predictor, &mut dyn Write) -> io::Result<Count>,
) -> Result<Count, Failure> {
    if let Some(sentence) = model.unseen(&dataset) {
        note(sentence);
    }
    let trained = model.trained_on(&read);
    drop(read);
    let own = model.session(dataset)?;
    let mut predictor = own.predictor()?;
    let experiment = &own.session.experiment;
    let rows = Rows {
        dataset: &experiment.splits.train,
        config: &experiment.config.data,
        padding: experiment.config.model.attention.padding_token,
        labelled,
    };
    let mut count = Count::default();
    let mut refused: Option<Error> = None;
    let written = out.write(|file| {
        let rows = write(&rows, predictor.as_mut(), file);
        count = rows.inspect_err(|error| {
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
            refused = inner.cloned();
        })?;
        Ok(())
    });
    refused.map_or(written, |error| Err(error.into()))?;
    Ok(Count { trained, ..count })
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

/// The rows of a dataset.
pub(super) struct Rows<'a> {
    dataset: &'a Dataset,
    pub(super) config: &'a DatasetConfig,
    padding: Option<u32>,
    labelled: bool,
}

/// A row: a sample with the model's prediction.
pub(super) struct Row<'a> {
    sample: usize,
    predicted: u32,
    /// Of class 1 for two classes without names; else of each class. Empty with an answer per position.
    probabilities: Vec<f32>,
    /// With an answer per position: the class at each position, and the logarithm of its label's probability; `None` where none
    /// counts. Else empty.
    each: Vec<Option<(u32, f64)>>,
    label: Option<u32>,
    tokens: &'a [u32],
}

impl Rows<'_> {
    fn write(
        &self,
        format: Format,
        predictor: &mut dyn Predictor,
        file: &mut dyn Write,
    ) -> io::Result<Count> {
        match format {
            Format::Csv => {
                write_header(file, b',', self.header()).map_err(io_error)?;
                let mut csv = csv::Writer::from_writer(file);
                let count = self.each(predictor, |row| {
                    csv.write_record(self.record(&row)).map_err(io_error)
                })?;
                csv.flush()?;
                Ok(count)
            }
            Format::Jsonl => self.each(predictor, |row| self.write_json(file, &row)),
        }
    }

    /// Classifies each sample, in order.
    pub(super) fn each(
        &self,
        predictor: &mut dyn Predictor,
        mut write: impl FnMut(Row<'_>) -> io::Result<()>,
    ) -> io::Result<Count> {
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
                return write(Row {
                    sample,
                    predicted,
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
            write(Row {
                sample,
                predicted,
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

    fn header(&self) -> Vec<String> {
        let mut names = vec!["sample".to_owned()];
        names.extend(prediction_names(self.config));
        let has_label = self.labelled && !self.dataset.is_per_position();
        names.extend(has_label.then(|| "label".to_owned()));
        if self.config.words.is_some() {
            names.push("text".to_owned());
        } else {
            names.extend((0..self.dataset.positions()).map(|position| format!("token_{position}")));
        }
        names
    }

    fn record(&self, row: &Row<'_>) -> Vec<String> {
        let mut cells = vec![row.sample.to_string()];
        cells.extend(self.prediction(row));
        cells.extend(row.label.map(|class| self.config.class_name(class)));
        match self.text(row) {
            Some(text) => cells.push(text),
            None => cells.extend(row.tokens.iter().map(u32::to_string)),
        }
        cells
    }

    /// The cells of a prediction.
    pub(super) fn prediction(&self, row: &Row<'_>) -> Vec<String> {
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
        let mut cells = vec![self.config.class_name(row.predicted)];
        cells.extend(row.probabilities.iter().map(f32::to_string));
        cells
    }

    /// The keys of a prediction, for an object.
    pub(super) fn write_prediction(&self, file: &mut dyn Write, row: &Row<'_>) -> io::Result<()> {
        if self.dataset.is_per_position() {
            let class =
                |own: &Option<(u32, f64)>| own.map(|(class, _)| class_value(self.config, class));
            let all: Vec<Option<Value>> = row.each.iter().map(class).collect();
            write!(file, r#""predicted":{}"#, serde_json::json!(all))?;
            if self.labelled {
                let logs = row.each.iter().map(|own| own.map(|(_, log)| log));
                let logs: Vec<Option<f64>> = logs.collect();
                write!(file, r#","log_probabilities":{}"#, serde_json::json!(logs))?;
            }
            return Ok(());
        }
        let predicted = class_value(self.config, row.predicted);
        write!(file, r#""predicted":{predicted}"#)?;
        let probabilities = &row.probabilities;
        match &probabilities[..] {
            [probability] => write!(file, r#","probability":{probability}"#)?,
            _ if self.has_names() => {
                let named = self.config.classes.iter().zip(probabilities);
                let named = named.map(|(name, p)| format!("{}:{p}", Value::from(name.as_str())));
                let named = named.collect::<Vec<_>>().join(",");
                write!(file, r#","probabilities":{{{named}}}"#)?;
            }
            several => write!(file, r#","probabilities":{several:?}"#)?,
        }
        Ok(())
    }

    fn write_json(&self, file: &mut dyn Write, row: &Row<'_>) -> io::Result<()> {
        write!(file, r#"{{"sample":{},"#, row.sample)?;
        self.write_prediction(file, row)?;
        let class = |class| class_value(self.config, class);
        if let Some(label) = row.label {
            write!(file, r#","label":{}"#, class(label))?;
        }
        if let Some(text) = self.text(row) {
            write!(file, r#","text":{}"#, Value::from(text))?;
        }
        if self.dataset.is_per_position() {
            let own = row.tokens.iter().copied();
            let own: Vec<u32> = own.filter(|&token| self.is_answered(token)).collect();
            return writeln!(file, r#","tokens":{own:?}}}"#);
        }
        writeln!(file, r#","tokens":{:?}}}"#, row.tokens)
    }

    /// The words of a sample as the model takes them.
    fn text(&self, row: &Row<'_>) -> Option<String> {
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

/// The error of the writer inside, by whose kind a closed pipe is known.
pub(super) fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
