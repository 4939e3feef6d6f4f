//! How near to 0 a margin must be for float64 to leave it to the engine, which rounds to float32.

use headlight_data::Stream;

use super::logits::Logits;
use super::prefix::Prefix;
use super::search::Search;
use super::table::Table;
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
pub(super) fn near(search: &Search<'_>, weights: &[f32], logits: &Logits) -> Result<f64, Error> {
    let read = search.config.inputs().read_position;
    let mut numbers = Stream::Inputs.numbers(search.config.seed);
    let mut answers = search.answers.clone();
    let mut most = 0.0_f64;
    for _ in 0..ASKED / SHARED {
        let own = numbers(search.counts[read] as u32);
        let table = Table::new(search, weights, logits, own)?;
        let mut prefix = Prefix::new(&table, logits);
        let (mut samples, mut labels, mut margins) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..SHARED {
            let mut token = 0;
            for length in 0..table.len() {
                token = numbers(prefix.next(length) as u32) as usize;
                prefix.set(length, token);
            }
            prefix.complete();
            let label = numbers(search.classes() as u32);
            margins.push(prefix.last.margin(label as usize, token));
            labels.push(label);
            samples.extend_from_slice(&prefix.tokens);
        }
        let answers = answers.of(&search.absolute(&samples), &labels)?;
        for ((_, found), margin) in answers.into_iter().zip(margins) {
            most = most.max((found - margin).abs());
        }
    }
    Ok(NEAR.max(TIMES * most))
}
