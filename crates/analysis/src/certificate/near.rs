//! How near to 0 a margin must be for float64 to leave it to the engine, which rounds to float32.

use headlight_data::Stream;

use super::answers::margin;
use super::logits::Logits;
use super::search::Search;
use super::table::Table;
use headlight_experiment::Error;

/// The least distance.
const NEAR: f64 = 1e-4;

/// The distance is [`NEAR`] and so many times the largest difference between the table's margins and the engine's among random inputs.
const TIMES: f64 = 16.0;

/// Random inputs, and those of them that share the token at the readout position.
const ASKED: usize = 512;
const SHARED: usize = 64;

/// The distance, `least + scaled / s`: a norm that divides by a small `s` (`logits.rs`) amplifies what is rounded before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundingBound {
    pub(super) least: f64,
    pub(super) scaled: f64,
}

impl RoundingBound {
    /// Of a model.
    pub(super) fn new(
        search: &Search<'_>,
        weights: &[f32],
        logits: &Logits,
    ) -> Result<Self, Error> {
        let found = differences(search, weights, logits, search.config.seed)?;
        // Without a single number nothing is known.
        let unknown = if found.is_empty() { f64::INFINITY } else { 0.0 };
        let scaled = found
            .into_iter()
            .map(|(difference, inverse)| difference / inverse);
        Ok(Self {
            least: NEAR,
            scaled: TIMES * scaled.fold(unknown, f64::max),
        })
    }

    /// The distance where `1 / s` is this.
    pub(super) fn at(self, inverse: f64) -> f64 {
        self.least + self.scaled * inverse
    }
}

/// The differences between float64 and the engine at the random inputs of a seed, and `1 / s` there.
fn differences(
    search: &Search<'_>,
    weights: &[f32],
    logits: &Logits,
    seed: u64,
) -> Result<Vec<(f64, f64)>, Error> {
    let read = search.config.inputs().read_position;
    let mut numbers = Stream::Inputs.numbers(seed);
    let mut answers = search.answers.clone();
    let mut differences = Vec::new();
    for _ in 0..ASKED / SHARED {
        let all = &search.tokens[read];
        let read_token = all.start + numbers(all.len() as u32);
        let Some(table) = Table::new(search, weights, logits, read_token)? else {
            continue;
        };
        let (mut samples, mut labels, mut margins) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..SHARED {
            let mut region = table.region.clone();
            for position in 0..region.positions.len() {
                let count = region.positions[position].tokens.len();
                region = region.with(position, &[numbers(count as u32) as usize]);
            }
            let label = numbers(search.classes() as u32);
            table.each(&region, |tokens, logits, inverse| {
                margins.push((margin(logits, label as usize), inverse));
                samples.extend_from_slice(tokens);
                Ok(())
            })?;
            labels.push(label);
        }
        let answers = answers.predict(&samples, &labels)?;
        let pairs = answers.into_iter().zip(margins);
        differences
            .extend(pairs.map(|((_, found), (margin, inverse))| ((found - margin).abs(), inverse)));
    }
    Ok(differences)
}

#[cfg(test)]
mod tests;
