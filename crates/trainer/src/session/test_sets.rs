//! The samples of test sets, drawn or read from their files; and whether all samples of a run are still those of its training.

use std::sync::Arc;

use headlight_data::{Dataset, Source, Splits, TestSet};
use headlight_experiment::Experiment;
use headlight_experiment::config::ExperimentConfig;
use headlight_schema::InvalidValue;

use crate::files::hash::inputs_sha256;
use crate::files::samples;
use crate::run::checkpoint::Checkpoint;
use crate::session::dataset::{check_data_file, dataset, note_repetitions};
use crate::session::start_parameters::start_parameters;
use crate::{Failure, RunDir, shown};

/// Training and held-out samples, with those of the config's test sets; notes which are also training samples.
///
/// # Errors
/// When a test set has no such samples, or its file cannot be read.
pub fn with_tests(config: &ExperimentConfig, splits: Splits) -> Result<Splits, Failure> {
    let splits = with_samples_of_tests(config, splits)?;
    note_repetitions(config, &splits);
    Ok(splits)
}

fn with_samples_of_tests(config: &ExperimentConfig, splits: Splits) -> Result<Splits, Failure> {
    let tests = config.tests.iter();
    let tests = tests.map(|test| samples_of(config, test, &splits.train));
    Ok(Splits {
        tests: tests.collect::<Result<_, _>>()?,
        ..splits
    })
}

fn samples_of(
    config: &ExperimentConfig,
    test: &TestSet,
    train: &Dataset,
) -> Result<Dataset, Failure> {
    let named =
        |invalid: InvalidValue| Failure::Input(format!("test set `{}`: {invalid}", test.name));
    let Some(path) = &test.file else {
        return config.data.draw_test(test, train).map_err(named);
    };
    let test_config = config.of_test(test).map_err(named)?;
    let named_file = |failure| match failure {
        Failure::Input(message) => Failure::Input(format!("test set `{}`: {message}", test.name)),
        other => other,
    };
    let read = samples::read_labelled(path, &test_config).map_err(named_file)?;
    samples::check_names(path, &read.rows, &config.data).map_err(named_file)?;
    let reason = read.rows.contradiction(&read.dataset, &test_config.data);
    if let Some(reason) = reason.filter(|_| test.rule.is_some()) {
        let reason = format!(
            "{}: {reason}; fix the label or the rule, or remove the rule",
            read.rows.name()
        );
        return Err(named_file(Failure::Input(reason)));
    }
    read.compare_with_rule(&test_config.data);
    let mut samples = read.dataset;
    test_config.data.make_noisy(&mut samples);
    Ok(samples)
}

/// The samples that a run was trained on; `None` if they have changed since: a run directory has no copy of a dataset file, so
/// its checkpoint tells whether the file still holds them.
pub(crate) fn unchanged_samples(
    config: &ExperimentConfig,
    checkpoint: &Checkpoint,
) -> Result<Option<Arc<Splits>>, Failure> {
    let splits = with_samples_of_tests(config, dataset(config)?)?;
    let experiment = Experiment::new(config.clone(), Arc::new(splits), start_parameters(config)?)?;
    let is_same = inputs_sha256(&experiment) == checkpoint.counters.inputs_sha256;
    Ok(is_same.then_some(experiment.splits))
}

/// Whether the samples of a run come from a file, and are known to have changed since its training.
pub fn samples_have_changed(run: &RunDir, config: &ExperimentConfig) -> bool {
    let is_of_file = matches!(config.data.source, Source::File(_));
    let checkpoint = run.checkpoint().ok().flatten().filter(|_| is_of_file);
    checkpoint.is_some_and(|checkpoint| matches!(unchanged_samples(config, &checkpoint), Ok(None)))
}

/// Checks that the dataset file of a run still holds its samples.
///
/// # Errors
/// When the file does not exist, or its samples have changed: names it, and the `remedy`.
pub fn check_samples(run: &RunDir, config: &ExperimentConfig, remedy: &str) -> Result<(), Failure> {
    check_data_file(config, &format!("put it back{remedy}"))?;
    match &config.data.source {
        Source::File(path) if samples_have_changed(run, config) => Err(Failure::reading(
            path,
            format!(
                "the samples of the run in {} have changed since its training; put the file back as it was{remedy}",
                shown(run.path())
            ),
        )),
        _ => Ok(()),
    }
}
