//! The measures that a config asks for: whether its models have them, and their values.

use headlight_data::Dataset;
use headlight_keys::InvalidValue;

use super::info::MeasureInfo;
use super::name::MeasureName;
use super::subject::Subject;
use super::value::Measured;
use crate::certificate::Certificate;
use crate::config::ExperimentConfig;
use crate::error::Error;

macro_rules! table {
    ($( $(#[doc = $doc:literal])+ $measure:ident = $name:literal in $file:ident, )*) => {
        impl MeasureName {
            /// Which models have it, what its values can be, and how it is computed.
            pub fn info(self) -> &'static MeasureInfo {
                match self {
                    $( Self::$measure => &super::$file::INFO, )*
                }
            }
        }
    };
}

measures!(table);

/// Checks that the models of a config have the measures that it names, each once.
///
/// # Errors
/// Says in a sentence why they do not have one.
pub fn check(config: &ExperimentConfig) -> Result<(), InvalidValue> {
    if config.data.task.is_per_position() && !config.report.measures.is_empty() {
        let message = "measures are of one answer per sample, and the model answers at each position; remove this key";
        return Err(InvalidValue::new("report.measures", message));
    }
    let names = &config.report.measures;
    for (index, name) in names.iter().enumerate() {
        let checked = if names[..index].contains(name) {
            Err("is named twice".to_owned())
        } else {
            (name.info().check)(config)
        };
        checked.map_err(|why| {
            InvalidValue::new("report.measures", format!("{} {why}", name.name()))
        })?;
    }
    Ok(())
}

/// The measures that a config asks for, of a model with these weights, which are in the model's order one after the other. The
/// samples are the held-out ones of a run, or else those that it was trained on.
///
/// All passes are the fused engine's, whichever engine trained the model, so values are the same bytes on every machine.
///
/// # Errors
/// When the weights are not those of such a model, or not finite.
pub fn measured(
    config: &ExperimentConfig,
    weights: &[f32],
    samples: &Dataset,
) -> Result<Vec<(MeasureName, Measured)>, Error> {
    let needs_margins = config
        .report
        .measures
        .contains(&MeasureName::SmallestMargin);
    let measured = measured_and_certified(config, weights, samples, usize::from(needs_margins))?;
    Ok(measured.0)
}

/// Each measure with its value.
type Values = Vec<(MeasureName, Measured)>;

/// The same, with the certificate that `wrong_inputs` and `smallest_margin` come from, if the config asks for one of them; it has so
/// many examples of each class.
///
/// # Errors
/// As [`measured`].
pub fn measured_and_certified(
    config: &ExperimentConfig,
    weights: &[f32],
    samples: &Dataset,
    examples: usize,
) -> Result<(Values, Option<Certificate>), Error> {
    if config.report.measures.is_empty() {
        return Ok((Vec::new(), None));
    }
    let mut subject = Subject::new(config, weights, samples)?;
    subject.examples = examples;
    let names = config.report.measures.iter();
    let measured = names.map(|&name| Ok((name, (name.info().value)(&mut subject)?)));
    let measured: Result<Vec<_>, Error> = measured.collect();
    Ok((measured?, subject.certificate))
}
