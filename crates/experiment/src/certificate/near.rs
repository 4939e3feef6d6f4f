//! How near to 0 a margin must be for float64 to leave it to the engine, which rounds to float32.

use headlight_data::Stream;

use super::answers::Answers;
use super::check::tokens;
use super::passes::Passes;
use super::search::Prefix;
use super::sums::{Reach, Sums};
use super::tail::Tail;
use crate::config::ExperimentConfig;
use crate::error::Error;

/// The least distance.
const NEAR: f64 = 1e-4;

/// It is so many times the largest difference that is found among random inputs.
const TIMES: f64 = 16.0;

/// Random inputs, and those of them that share the token at the position that is read.
const ASKED: usize = 512;
const SHARED: usize = 64;

/// The distance for a model.
///
/// # Errors
/// When an answer is not finite.
pub(super) fn near(
    config: &ExperimentConfig,
    passes: &Passes,
    tail: &Tail,
    answers: &mut Answers,
) -> Result<f64, Error> {
    Ok(NEAR.max(TIMES * difference(config, passes, tail, answers, config.seed)?))
}

/// The largest difference of a margin here from the engine's, among random inputs.
fn difference(
    config: &ExperimentConfig,
    passes: &Passes,
    tail: &Tail,
    answers: &mut Answers,
    seed: u64,
) -> Result<f64, Error> {
    let ranges = tokens(config);
    let read = config.inputs().read_position;
    let mut numbers = Stream::Inputs.numbers(seed);
    let mut most = 0.0_f64;
    for _ in 0..ASKED / SHARED {
        let sums = Sums::new(passes, tail, read, numbers(ranges[read].len() as u32));
        let (mut samples, mut labels, mut margins) = (Vec::new(), Vec::new(), Vec::new());
        let (mut prefix, mut reach) = (Prefix::new(&sums), Reach::default());
        for _ in 0..SHARED {
            for (length, &position) in sums.order.iter().enumerate() {
                let tokens = sums.tokens[position].clone();
                prefix.set(length, tokens.start + numbers(tokens.len() as u32));
            }
            prefix.reach(sums.order.len(), &mut reach);
            let label = numbers(config.data.n_classes as u32);
            margins.push(reach.margin(label as usize));
            labels.push(label);
            samples.extend(
                prefix
                    .tokens
                    .iter()
                    .zip(&ranges)
                    .map(|(token, range)| range.start + token),
            );
        }
        for ((_, found), margin) in answers.of(&samples, &labels)?.into_iter().zip(margins) {
            most = most.max((found - margin).abs());
        }
    }
    Ok(most)
}

#[cfg(test)]
mod tests;
