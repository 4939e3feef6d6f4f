//! An experiment on this machine: its files read, its device opened.

use std::sync::Arc;

use headlight_architecture::Parameter;
use headlight_data::files::{FitError, Rows};
use headlight_data::{ClsPlace, Dataset, Source, Splits, Task};
use headlight_experiment::config::{EngineName, ExperimentConfig};
use headlight_experiment::{Engine, Experiment, FusedEngine, Replay, check_model_size};
use headlight_schema::InvalidValue;

use crate::Failure;
use crate::devices::{self, OpenDevice};
use crate::files::dataset_file::Files;
use crate::files::samples::sides_of_padding;
use crate::notes::{note, note_once};
use crate::standard::shown;
use crate::train::dumping;
use crate::train::opening::open_device;
use crate::train::test_sets::with_tests;

/// An experiment and the device of its config.
#[derive(Debug)]
pub struct Session {
    /// Config, samples and initial weights.
    pub experiment: Experiment,
    /// The opened device of the config.
    pub device: OpenDevice,
    /// Threads that share each step of the fused engine. They change no result.
    pub threads: usize,
}

/// Who reads the samples and may look at no token but itself, if that is so: the readout position, or, with a
/// label per position, each.
pub(crate) fn blind_reader(config: &ExperimentConfig) -> Option<String> {
    let (inputs, attention) = (config.inputs(), &config.model.attention);
    let is_blind = |query| attention.is_blind(query, inputs.positions);
    let (is_blind, reader) = if inputs.per_position {
        let each = "each position".to_owned();
        ((0..inputs.positions).all(is_blind), each)
    } else {
        let reads_one = !config.reads_mean();
        (reads_one && is_blind(inputs.read_position), config.reader())
    };
    (is_blind && inputs.positions > 1).then_some(reader)
}

/// That what samples hold cannot be learned from, since the reader is blind, and what to do.
fn blind_note(config: &ExperimentConfig) -> Option<String> {
    let reader = blind_reader(config)?;
    let (samples, remedy) = match (config.reads_cls(), config.data.cls) {
        (true, ClsPlace::First) => ("its samples", ", or data.cls = \"last\""),
        (true, _) => ("its samples", ", or data.cls = \"first\""),
        _ if config.data.task.is_per_position() => ("the rest of its samples", ""),
        _ => ("the rest of its samples", ", or model.pooling"),
    };
    Some(format!(
        "the mask lets {reader} look at no token but itself, so the model cannot read {samples}; choose another \
         model.attention.mask{remedy}"
    ))
}

impl Session {
    /// Generates or reads the dataset, and opens the device.
    ///
    /// # Errors
    /// When one of them fails, `[dump]` selects a missing sample, or training would be too large.
    pub fn open(config: ExperimentConfig) -> Result<Self, Failure> {
        Self::open_with(config, &Files::default())
    }

    /// As [`open`](Self::open), with the files that the command has read.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(config: ExperimentConfig, files: &Files) -> Result<Self, Failure> {
        let splits = Arc::new(with_tests(&config, dataset_with(&config, files)?)?);
        let device = open_device(&config.compute.device)?;
        let session = Self::with_shared(config, splits, device)?;
        session.experiment.check_recording()?;
        let experiment = &session.experiment;
        let notes = [
            blind_note(&experiment.config),
            experiment.unreached_steps(),
            untrained_classes(experiment),
        ];
        for sentence in notes.iter().flatten() {
            note(sentence);
        }
        Ok(session)
    }

    /// As [`open`](Self::open), with a dataset and a device that several sessions share.
    ///
    /// # Errors
    /// When training would be too large.
    pub fn with_shared(
        config: ExperimentConfig,
        splits: Arc<Splits>,
        device: OpenDevice,
    ) -> Result<Self, Failure> {
        check_model_size(&config)?;
        Ok(Self {
            experiment: Experiment::new(config, splits, None)?,
            device,
            threads: 1,
        })
    }

    /// Given weights for the samples of a dataset.
    ///
    /// # Errors
    /// When the model would be too large.
    pub fn with_weights(
        config: ExperimentConfig,
        weights: Vec<Parameter>,
        dataset: Dataset,
        device: OpenDevice,
    ) -> Result<Self, Failure> {
        let splits = Splits {
            held_out: Dataset::empty(config.data.seq_len, config.data.cls),
            train: dataset,
            tests: Vec::new(),
            texts: None,
        };
        let replay = Replay {
            start: weights,
            order: Vec::new(),
        };
        Ok(Self {
            experiment: Experiment::new(config, Arc::new(splits), Some(replay))?,
            device,
            threads: 1,
        })
    }

    /// The engine of the config, with the initial weights.
    ///
    /// # Errors
    /// When the engine does not support the config, or is not in this build.
    pub fn engine(&self) -> Result<Box<dyn Engine + '_>, Failure> {
        let experiment = &self.experiment;
        match engine_for(&experiment.config)? {
            EngineName::Fused => {
                let engine = FusedEngine::new(experiment)?.with_threads(self.threads);
                Ok(Box::new(engine))
            }
            #[cfg(feature = "burn")]
            _ => {
                let device = &self.device.device;
                Ok(Box::new(crate::burn::BurnEngine::new(experiment, device)?))
            }
            #[cfg(not(feature = "burn"))]
            _ => Err(Failure::without_burn("`compute.engine`: engine `burn`")),
        }
    }

    /// Samples that the run shows, by index, for a dump: of the training set, or of the held-out one if each step draws its
    /// own.
    pub fn shown_samples(&self, indices: Vec<usize>) -> dumping::DumpSamples<'_> {
        dumping::DumpSamples {
            dataset: self.experiment.splits.shown(),
            indices,
            numbered: true,
            labelled: true,
        }
    }
}

/// The most classes that a note names.
const MOST_NAMED: usize = 5;

/// The classes of held-out samples that no training sample has, as a sentence.
fn untrained_classes(experiment: &Experiment) -> Option<String> {
    let (data, splits) = (&experiment.config.data, &experiment.splits);
    if data.task == Task::NextToken || splits.train.is_empty() {
        return None;
    }
    let [train, held_out] =
        [&splits.train, &splits.held_out].map(|part| part.class_counts(data.n_classes));
    let untrained = (0..data.n_classes as u32)
        .filter(|&class| train[class as usize] == 0 && held_out[class as usize] > 0);
    let names: Vec<String> = untrained.map(|class| data.class_name(class)).collect();
    let more = match names.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = names[..names.len().min(MOST_NAMED)].join(", ");
    (!names.is_empty())
        .then(|| format!("no training sample has these classes of held-out samples: {named}{more}"))
}

/// Reads or generates the dataset of a config, without its test sets.
///
/// # Errors
/// When the dataset cannot be generated, or its file cannot be read.
pub fn dataset(config: &ExperimentConfig) -> Result<Splits, Failure> {
    let Source::File(path) = &config.data.source else {
        return config.data.generate().map_err(|error| invalid(&error));
    };
    fit(&Files::default().rows(path, &config.data.columns)?, config)
}

/// Checks that the dataset file of a run is still where the run read it.
///
/// # Errors
/// When the file does not exist: names it, and the `remedy`.
pub fn check_data_file(config: &ExperimentConfig, remedy: &str) -> Result<(), Failure> {
    match &config.data.source {
        Source::File(path) if matches!(path.try_exists(), Ok(false)) => Err(Failure::reading(
            path,
            format!("the file does not exist; if you moved it, {remedy}"),
        )),
        _ => Ok(()),
    }
}

/// As [`dataset`], with the files that the command has read; says what a reader should know of the samples.
///
/// # Errors
/// As [`dataset`].
pub fn dataset_with(config: &ExperimentConfig, files: &Files) -> Result<Splits, Failure> {
    let Source::File(path) = &config.data.source else {
        return dataset(config);
    };
    let rows = files.rows(path, &config.data.columns)?;
    let splits = fit(&rows, config)?;
    let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let tell = |what: &str, sentence: &str| {
        let key = (path.clone(), what.to_owned());
        note_once(key, &format!("{}: {sentence}", rows.name()));
    };
    for sentence in rows.notes(&config.data.columns.features) {
        tell(&sentence, &sentence);
    }
    if let Some(sentence) = sides_of_padding(splits.train.all_tokens(), config, true) {
        tell("padding", &sentence);
    }
    // All folds share these texts, so the note is made once.
    if let Some(sentence) = splits.texts.and_then(|texts| texts.repetition()) {
        tell("", &sentence);
    }
    Ok(splits)
}

/// The dataset of a config, from the samples of its file.
///
/// # Errors
/// When they do not fit the config.
pub fn fit(rows: &Rows, config: &ExperimentConfig) -> Result<Splits, Failure> {
    let splits = rows.fit(&config.data, config.model.attention.padding_token);
    splits.map_err(|error| match error {
        FitError::Config(error) => invalid(&error),
        FitError::File(error) => error.into(),
    })
}

/// Notes what was lost of the texts of a file, where no screen shows it after the training.
pub fn note_losses(config: &ExperimentConfig, splits: &Splits) {
    let (Some(texts), Source::File(path)) = (&splits.texts, &config.data.source) else {
        return;
    };
    for sentence in texts.losses(config.data.seq_len) {
        note(&format!("{}: {sentence}", shown(path)));
    }
}

fn invalid(invalid: &InvalidValue) -> Failure {
    Failure::Input(format!("`data.{}`: {}", invalid.key, invalid.message))
}

/// The device of a config if the fused engine does not compute on it.
pub fn unsupported_by_fused(config: &ExperimentConfig) -> Option<String> {
    let device = &config.compute.device;
    let on_cpu = devices::find(device).is_ok_and(|device| device.is_cpu);
    (!on_cpu).then(|| format!("compute.device = \"{device}\""))
}

/// The engine that runs a config: resolves `auto`.
///
/// # Errors
/// When the config's engine does not support it; the message names the setting.
pub fn engine_for(config: &ExperimentConfig) -> Result<EngineName, Failure> {
    match (config.compute.engine, unsupported_by_fused(config)) {
        (EngineName::Auto | EngineName::Fused, None) => Ok(EngineName::Fused),
        (EngineName::Fused, Some(reason)) => Err(Failure::Input(format!(
            "`compute.engine`: `fused` does not support {reason}; set it to \"burn\" or \"auto\""
        ))),
        (EngineName::Auto | EngineName::Burn, _) => Ok(EngineName::Burn),
    }
}
