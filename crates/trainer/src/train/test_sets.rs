//! The samples of test sets: drawn, or read from their files.

use headlight_data::{Dataset, Splits, TestSet};
use headlight_experiment::config::ExperimentConfig;
use headlight_schema::InvalidValue;

use crate::Failure;
use crate::files::samples;

/// Training and held-out samples, with those of the config's test sets.
///
/// # Errors
/// When a test set has no such samples, or its file cannot be read.
pub fn with_tests(config: &ExperimentConfig, splits: Splits) -> Result<Splits, Failure> {
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
    let own = config.of_test(test).map_err(named)?;
    let named_file = |failure| match failure {
        Failure::Input(message) => Failure::Input(format!("test set `{}`: {message}", test.name)),
        other => other,
    };
    let read = samples::read_labelled(path, &own).map_err(named_file)?;
    let reason = read.rows.contradiction(&read.dataset, &own.data);
    if let Some(reason) = reason.filter(|_| test.rule.is_some()) {
        let reason = format!(
            "{}: {reason}; fix the label or the rule, or remove the rule",
            read.rows.name()
        );
        return Err(named_file(Failure::Input(reason)));
    }
    read.compare_with_rule(&own.data);
    let mut samples = read.dataset;
    own.data.make_noisy(&mut samples);
    Ok(samples)
}
