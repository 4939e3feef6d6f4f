//! Measures of a trained model: numbers that answer a question about how it works, beside the metrics, which say how well.
//! A config names those that it wants in `report.measures`. [`MeasureName`] lists them; each of the other files has some of their values.

mod attention;
mod gap;
mod heads;
mod info;
mod kendall;
mod subject;

use headlight_data::Dataset;
use headlight_schema::InvalidValue;

pub use self::info::{MeasureInfo, MeasureValue};
use self::subject::Subject;
use crate::certificate::{self, Certificate, certify};
use headlight_experiment::Error;
use headlight_experiment::config::{ExperimentConfig, MeasureName};

/// `certificate/` counts them.
static WRONG_INPUTS: MeasureInfo = MeasureInfo {
    decimals: 0,
    ..MeasureInfo::number(is_certified, |subject| {
        Ok(subject.certificate.map(|found| found.wrong as f64).into())
    })
};

/// `certificate/` finds it.
static SMALLEST_MARGIN: MeasureInfo = MeasureInfo::number(is_certified, |subject| {
    let certificate = subject.certificate;
    Ok(certificate.and_then(|found| found.smallest_margin).into())
});

/// Why a config's models have no certificate, as the rest of a sentence about a measure.
fn is_certified(config: &ExperimentConfig) -> Result<(), String> {
    certificate::check(config).map(|_| ())
}

/// Which models have a measure, how tables show it, and how it is computed.
pub fn info(name: MeasureName) -> &'static MeasureInfo {
    match name {
        MeasureName::DecidingAttention => &attention::DECIDING_ATTENTION,
        MeasureName::DecidingUniform => &attention::DECIDING_UNIFORM,
        MeasureName::KendallGradient => &kendall::KENDALL_GRADIENT,
        MeasureName::KendallRemoval => &kendall::KENDALL_REMOVAL,
        MeasureName::HeadRemoval => &heads::HEAD_REMOVAL,
        MeasureName::WrongInputs => &WRONG_INPUTS,
        MeasureName::SmallestMargin => &SMALLEST_MARGIN,
        MeasureName::Gap => &gap::GAP,
        MeasureName::GapByWeights => &gap::GAP_BY_WEIGHTS,
        MeasureName::GapByValues => &gap::GAP_BY_VALUES,
    }
}

/// Whether a certificate has a measure, and samples say nothing of it.
fn is_of_all_inputs(name: MeasureName) -> bool {
    matches!(name, MeasureName::WrongInputs | MeasureName::SmallestMargin)
}

/// Checks that the models of a config have the measures that it names, each once.
///
/// # Errors
/// Says in a sentence why they do not have one.
pub fn check(config: &ExperimentConfig) -> Result<(), InvalidValue> {
    if config.data.task.is_per_position() && !config.report.measures.is_empty() {
        let message = "measures need a model with one answer per sample, and this one answers at each position; remove this key";
        return Err(InvalidValue::new("report.measures", message));
    }
    let names = &config.report.measures;
    for (index, name) in names.iter().enumerate() {
        let checked = if names[..index].contains(name) {
            Err("is named twice".to_owned())
        } else {
            (info(*name).check)(config)
        };
        checked.map_err(|why| {
            InvalidValue::new("report.measures", format!("{} {why}", name.name()))
        })?;
    }
    Ok(())
}

/// The certificate that measures of a config come from, with so many examples of each class, at least one if a measure needs it; `None` if
/// no measure is of all possible inputs. `watch` is as for [`certify`].
///
/// # Errors
/// As [`certify`].
pub fn certify_for_measures(
    config: &ExperimentConfig,
    weights: &[f32],
    examples: usize,
    threads: usize,
    watch: &(dyn Fn(f64) -> Result<(), Error> + Sync),
) -> Result<Option<Certificate>, Error> {
    let names = &config.report.measures;
    if !names.iter().any(|name| is_of_all_inputs(*name)) {
        return Ok(None);
    }
    let least = usize::from(names.contains(&MeasureName::SmallestMargin));
    certify(config, weights, examples.max(least), threads, watch).map(Some)
}

/// The measures that a config asks for, of a model with these weights, which are in the model's order one after the other. The
/// samples are the held-out ones of a run, or else those that it was trained on. Without a certificate, measures of all possible inputs
/// are left out.
///
/// All passes are the fused engine's, whichever engine trained the model, so values are the same bytes on every machine.
///
/// # Errors
/// When the weights are not those of such a model, or not finite.
pub fn compute_measures(
    config: &ExperimentConfig,
    weights: &[f32],
    samples: &Dataset,
    certificate: Option<&Certificate>,
) -> Result<Vec<(MeasureName, MeasureValue)>, Error> {
    let names = config.report.measures.iter().copied();
    let mut names = names
        .filter(|name| certificate.is_some() || !is_of_all_inputs(*name))
        .peekable();
    if names.peek().is_none() {
        return Ok(Vec::new());
    }
    let mut subject = Subject::new(config, weights, samples)?;
    subject.certificate = certificate;
    names
        .map(|name| Ok((name, (info(name).value)(&mut subject)?)))
        .collect()
}
