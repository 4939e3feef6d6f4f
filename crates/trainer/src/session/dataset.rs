//! The dataset of a config: generated, or read from its file.

use headlight_data::files::{FitError, Rows};
use headlight_data::{Source, Splits};
use headlight_experiment::config::ExperimentConfig;
use headlight_schema::InvalidValue;

use crate::files::built_in;
use crate::files::samples::sides_of_padding;
use crate::messages::notes::note_once;
use crate::{DatasetFiles, Failure, note, shown};

/// Reads or generates the dataset of a config, without its test sets.
///
/// # Errors
/// When the dataset cannot be generated, or its file cannot be read.
pub fn dataset(config: &ExperimentConfig) -> Result<Splits, Failure> {
    let Source::File(path) = &config.data.source else {
        return config.data.generate().map_err(invalid);
    };
    let rows = DatasetFiles::default().rows(path, &config.data)?;
    fit(&rows, config)
}

/// Checks that the dataset file of a run is still where the run read it.
pub(crate) fn check_data_file(config: &ExperimentConfig, remedy: &str) -> Result<(), Failure> {
    match &config.data.source {
        Source::File(path)
            if built_in::data_file(path).is_none() && matches!(path.try_exists(), Ok(false)) =>
        {
            Err(Failure::reading(
                path,
                format!("the file does not exist; if you moved it, {remedy}"),
            ))
        }
        _ => Ok(()),
    }
}

/// As [`dataset`], with the files that the command has read; says what a reader should know of the samples.
///
/// # Errors
/// As [`dataset`].
pub fn dataset_with(config: &ExperimentConfig, files: &DatasetFiles) -> Result<Splits, Failure> {
    let Source::File(path) = &config.data.source else {
        return dataset(config);
    };
    let rows = files.rows(path, &config.data)?;
    let splits = fit(&rows, config)?;
    let tell = |what: &str, sentence: &str| {
        let name = rows.name();
        note_once(&format!("{name}: {what}"), &format!("{name}: {sentence}"));
    };
    for sentence in rows.notes(&config.data.columns.features) {
        tell(&sentence, &sentence);
    }
    if let Some(sentence) = sides_of_padding(splits.train.all_tokens(), config, true) {
        tell("padding", &sentence);
    }
    note_repetitions(config, &splits);
    Ok(splits)
}

/// Notes which samples are also training samples. Folds share their file, so each kind is noted only once.
pub(crate) fn note_repetitions(config: &ExperimentConfig, splits: &Splits) {
    for (what, count) in splits.repetitions(&config.data, &config.tests) {
        let place = match &config.data.source {
            Source::File(path) => shown(path) + ": ",
            Source::Generated(_) => String::new(),
        };
        note_once(
            &format!("{place}{what}"),
            &format!("{place}{what}: {count}."),
        );
    }
}

/// The dataset of a config, from the samples of its file.
///
/// # Errors
/// When they do not fit the config.
pub fn fit(rows: &Rows, config: &ExperimentConfig) -> Result<Splits, Failure> {
    let splits = rows.fit(&config.data, config.model.attention.padding_token);
    splits.map_err(|error| match error {
        FitError::Config(error) => invalid(error),
        FitError::File(error) => error.into(),
    })
}

/// Notes what was lost of the texts of a file, where no screen shows it after the training.
pub fn note_lost_words(config: &ExperimentConfig, splits: &Splits) {
    let (Some(texts), Source::File(path)) = (&splits.texts, &config.data.source) else {
        return;
    };
    for sentence in texts.sentences(config.data.seq_len) {
        note(&format!("{}: {sentence}", shown(path)));
    }
}

fn invalid(invalid: InvalidValue) -> Failure {
    Failure::Input(invalid.within("data").to_string())
}
