//! `headlight predict --tokens FILE`: classifies the samples of a file, one row each.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use headlight_data::Dataset;
use headlight_experiment::metrics::predicted_class;
use headlight_experiment::{Engine, Predictions};
use headlight_inspector::counted;
use headlight_trainer::Failure;
use headlight_trainer::outputs::Output;
use headlight_trainer::samples;

use super::model::RunModel;

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
}

/// Writes predictions for all samples of the file `tokens`: to `out`, as CSV to standard output.
///
/// # Errors
/// When the samples do not match the config, or the predictions cannot be written.
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
    let (dataset, labelled) = samples::read(tokens, &model.config)?;
    let session = model.session(dataset)?;
    let mut engine = session.engine()?;
    let rows = Rows {
        dataset: &session.experiment.splits.train,
        n_classes: session.experiment.config.data.n_classes,
        labelled,
        format,
    };
    let mut count = Count::default();
    out.write(|file| {
        count = rows.write(engine.as_mut(), file)?;
        Ok(())
    })?;
    Ok(count)
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} classified", counted(self.samples, "sample"))?;
        let Some(correct) = self.correct else {
            return Ok(());
        };
        let share = 100.0 * correct as f64 / self.samples as f64;
        write!(f, ", {share:.2}% of them correctly")
    }
}

/// The rows of a dataset.
struct Rows<'a> {
    dataset: &'a Dataset,
    n_classes: usize,
    labelled: bool,
    format: Format,
}

impl Rows<'_> {
    fn write(&self, engine: &mut dyn Engine, file: &mut impl Write) -> io::Result<Count> {
        if self.format == Format::Csv {
            self.write_header(file)?;
        }
        let mut predictions = Predictions::default();
        let mut count = Count {
            samples: self.dataset.len(),
            correct: self.labelled.then_some(0),
        };
        let all: Vec<u32> = (0..self.dataset.len() as u32).collect();
        for samples in all.chunks(engine.samples_per_pass()) {
            engine.predict(self.dataset, samples, &mut predictions);
            let per_sample = predictions.logits.len() / samples.len();
            let logits = predictions.logits.chunks(per_sample);
            let probabilities = predictions.probabilities.chunks(per_sample);
            for ((&sample, logits), probabilities) in samples.iter().zip(logits).zip(probabilities)
            {
                let (sample, predicted) = (sample as usize, predicted_class(logits));
                if let Some(correct) = &mut count.correct {
                    *correct += usize::from(predicted == self.dataset.label(sample));
                }
                match self.format {
                    Format::Csv => self.write_csv(file, sample, predicted, probabilities)?,
                    Format::Jsonl => self.write_json(file, sample, predicted, probabilities)?,
                }
            }
        }
        Ok(count)
    }

    fn write_header(&self, file: &mut impl Write) -> io::Result<()> {
        write!(file, "sample,predicted")?;
        match self.n_classes {
            2 => write!(file, ",probability")?,
            classes => (0..classes).try_for_each(|class| write!(file, ",probability_{class}"))?,
        }
        if self.labelled {
            write!(file, ",label")?;
        }
        (0..self.dataset.positions()).try_for_each(|position| write!(file, ",token_{position}"))?;
        writeln!(file)
    }

    fn write_csv(
        &self,
        file: &mut impl Write,
        sample: usize,
        predicted: u8,
        probabilities: &[f64],
    ) -> io::Result<()> {
        write!(file, "{sample},{predicted}")?;
        for &probability in probabilities {
            write!(file, ",{}", probability as f32)?;
        }
        if self.labelled {
            write!(file, ",{}", self.dataset.label(sample))?;
        }
        for token in self.dataset.tokens(sample) {
            write!(file, ",{token}")?;
        }
        writeln!(file)
    }

    fn write_json(
        &self,
        file: &mut impl Write,
        sample: usize,
        predicted: u8,
        probabilities: &[f64],
    ) -> io::Result<()> {
        write!(file, r#"{{"sample":{sample},"predicted":{predicted}"#)?;
        match probabilities {
            [probability] => write!(file, r#","probability":{}"#, *probability as f32)?,
            several => {
                let several: Vec<f32> = several.iter().map(|&p| p as f32).collect();
                write!(file, r#","probabilities":{several:?}"#)?;
            }
        }
        if self.labelled {
            write!(file, r#","label":{}"#, self.dataset.label(sample))?;
        }
        writeln!(file, r#","tokens":{:?}}}"#, self.dataset.tokens(sample))
    }
}
