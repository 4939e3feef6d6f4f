//! How a model answers random inputs, where all are too many to count.

use headlight_data::Stream;
use serde::Serialize;

use super::answers::Answers;
use super::check::{check_rule, tokens};
use headlight_experiment::Error;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::metrics::wilson;

/// Inputs that are computed at once.
const AT_ONCE: u64 = 1024;

/// How a model answers random inputs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SampleEstimate {
    /// Inputs, drawn uniformly and independently.
    pub inputs: u64,
    /// Those that are answered wrongly.
    pub wrong: u64,
    /// Wilson's 95% interval of the share of all inputs that are answered wrongly. It is that of all shares here, and at 0 of `n` it
    /// ends at 3.84 / n, where the exact interval of Clopper and Pearson ends at 3.69 / n.
    pub interval: [f64; 2],
}

/// Asks a config's model, of any kind, about random inputs.
///
/// # Errors
/// When not every input has a class, the weights are not those of the model, or an answer is not finite.
pub fn sample(
    config: &ExperimentConfig,
    weights: &[f32],
    count: u64,
    seed: u64,
    watch: &(dyn Fn(f64) -> Result<(), Error> + Sync),
) -> Result<SampleEstimate, Error> {
    let rule =
        check_rule(config).map_err(|reason| Error::Input(format!("a certificate {reason}")))?;
    let mut answers = Answers::new(config, weights)?;
    let tokens = tokens(config);
    let mut numbers = Stream::Inputs.numbers(seed);
    let (mut inputs, mut wrong) = (0, 0);
    while inputs < count {
        watch(inputs as f64 / count as f64)?;
        let batch = AT_ONCE.min(count - inputs);
        let (mut all, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..batch {
            let start = all.len();
            all.extend(
                tokens
                    .iter()
                    .map(|tokens| tokens.start + numbers(tokens.len() as u32)),
            );
            labels.push(rule.label_for(&all[start..], config.data.cls, config.data.n_classes));
        }
        let answers = answers.predict(&all, &labels)?.into_iter().zip(&labels);
        wrong += answers
            .filter(|((predicted, _), label)| predicted != *label)
            .count() as u64;
        inputs += batch;
    }
    Ok(SampleEstimate {
        inputs,
        wrong,
        interval: wilson(wrong as usize, inputs as usize),
    })
}
