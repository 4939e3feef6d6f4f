//! Test sets: how a model does on samples that differ from those it is trained on.

use std::sync::Arc;

use headlight_architecture::{Parameter, ParameterSpec, Positions};
use headlight_data::{Dataset, TestSet};
use headlight_schema::InvalidValue;

use crate::config::ExperimentConfig;
use crate::engine::Engine;
use crate::error::Error;
use crate::evaluate::evaluate;
use crate::experiment::Experiment;
use crate::metrics::{EvalMetrics, TestMetrics};

impl ExperimentConfig {
    /// The config of the same model on the samples of a test set.
    ///
    /// # Errors
    /// When it has no such samples, or its model cannot take them.
    pub fn of_test(&self, test: &TestSet) -> Result<Self, InvalidValue> {
        let test_config = Self {
            data: self.data.of_test(test)?,
            ..self.clone()
        };
        let too_large = |InvalidValue { message, .. }| InvalidValue::new("seq_len", message);
        test_config.check_size().map_err(too_large)?;
        let inputs = test_config.inputs();
        let model = |invalid: InvalidValue| {
            let InvalidValue { key, message } = invalid.within("model");
            InvalidValue::new(
                "seq_len",
                format!("with such samples, `{key}` is invalid: {message}"),
            )
        };
        test_config.model.validate_for(inputs).map_err(model)?;
        let [rows, most] = [&test_config, self].map(|config| match config.model.positions {
            Positions::Learned => config.model.position_rows(config.inputs().positions),
            _ => 0,
        });
        if rows > most {
            let message = format!(
                "its samples have {rows} positions, and the model learns a vector for each of {most}; lower it, or set \
                 model.positions = \"sinusoidal\", \"rotary\" or \"none\""
            );
            return Err(InvalidValue::new("seq_len", message));
        }
        Ok(test_config)
    }

    /// Checks each test set.
    pub(crate) fn validate_tests(&self) -> Result<(), InvalidValue> {
        for (index, test) in self.tests.iter().enumerate() {
            let located = |InvalidValue { key, message }: InvalidValue| {
                let message = format!("test set `{}`: {message}", test.name);
                InvalidValue::new(format!("tests.{index}.{key}"), message)
            };
            let mut earlier = self.tests[..index].iter();
            if earlier.any(|other| other.name == test.name) {
                let message = "two test sets have this name; rename one".to_owned();
                return Err(located(InvalidValue::new("name", message)));
            }
            self.of_test(test).map_err(located)?;
        }
        Ok(())
    }
}

/// The metrics of a model on the test sets that `chosen` accepts, in the order of the config.
///
/// # Errors
/// When a test set does not suit the model.
pub fn test_metrics(
    experiment: &Experiment,
    engine: &mut dyn Engine,
    chosen: impl Fn(&TestSet) -> bool,
) -> Result<Vec<TestMetrics>, Error> {
    let config = &experiment.config;
    let sets = config.tests.iter().zip(&experiment.splits.tests);
    let chosen = sets.filter(|(test, _)| chosen(test));
    let measured = chosen.map(|(test, samples)| {
        let found = config.of_test(test);
        let test_config = found.map_err(|InvalidValue { message, .. }| Error::Input(message))?;
        let metrics = on_samples(experiment, engine, test_config, samples)?;
        let none = || Error::Input(format!("test set `{}` has no samples", test.name));
        Ok(TestMetrics {
            name: test.name.clone(),
            metrics: metrics.ok_or_else(none)?,
        })
    });
    measured.collect()
}

/// The metrics on samples of a config that may have another length; `None` without samples.
fn on_samples(
    experiment: &Experiment,
    engine: &mut dyn Engine,
    test_config: ExperimentConfig,
    samples: &Dataset,
) -> Result<Option<EvalMetrics>, Error> {
    let n_classes = test_config.data.n_classes;
    if test_config.inputs() == experiment.config.inputs() {
        let found = evaluate(engine, samples, n_classes, Some(&test_config));
        return Ok(found.map(|found| found.metrics));
    }
    let layout = test_config.model.layout(test_config.inputs());
    let start = engine.parameters().into_iter().zip(&layout);
    let longer = Experiment {
        start: start.map(first_rows).collect(),
        splits: Arc::clone(&experiment.splits),
        config: test_config,
        order: None,
        fresh: None,
    };
    let mut model = engine.same_for(&longer)?;
    let found = evaluate(model.as_mut(), samples, n_classes, Some(&longer.config));
    Ok(found.map(|found| found.metrics))
}

/// The rows of a parameter that shorter samples need: of learned positions, the first ones.
fn first_rows((mut parameter, layout): (Parameter, &ParameterSpec)) -> Parameter {
    parameter.values.truncate(layout.size());
    parameter.shape.clone_from(&layout.shape);
    parameter
}
