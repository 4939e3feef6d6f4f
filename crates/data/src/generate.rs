//! Datasets from a seed.

use std::collections::HashSet;

use headlight_keys::InvalidValue;
use rand_mt::Mt;

use crate::config::{DatasetConfig, Source};
use crate::dataset::{Dataset, Splits};
use crate::draws::Draws;
use crate::fresh::Fresh;
use crate::generator::Generator;
use crate::random::{Stream, shuffle};

/// Draws per held-out sample before the search for one gives up.
const ATTEMPTS_PER_SAMPLE: usize = 100;

impl DatasetConfig {
    /// Draws the dataset: training samples, unless [`Fresh`] draws those of each step, and held-out samples.
    ///
    /// # Errors
    /// When a value is invalid, or the samples come from a file.
    pub fn generate(&self) -> Result<Splits, InvalidValue> {
        self.validate()?;
        let draws = Draws::of(self)?;
        let (rule, sampler) = (draws.rule, draws.sampler);
        let samples = match self.source {
            Source::Generated { samples, .. } => samples,
            // Each step draws its own.
            Source::Fresh { .. } | Source::File(_) => 0,
        };
        let mut train = Dataset::empty(self.seq_len, self.cls).for_task(self.task);
        let mut held_out = train.without_samples();
        match draws.generator {
            Generator::Numpy => {
                let mut mt = Mt::new(self.seed as u32);
                for _ in 0..samples {
                    train.push_labelled(&sampler.any(|| mt.next_u32()), rule, self.n_classes);
                }
            }
            Generator::Sentences => {
                // Held-out sentences differ by composition.
                for (part, stream, count) in [
                    (&mut train, Stream::Data, samples),
                    (&mut held_out, Stream::Split, self.held_out),
                ] {
                    let (is_held_out, mut rng) = (stream == Stream::Split, stream.rng(self.seed));
                    for _ in 0..count {
                        let row = rule.compose(is_held_out, sampler, &mut rng);
                        part.push_labelled(&row, rule, self.n_classes);
                    }
                }
            }
            Generator::All => {
                let mut order: Vec<u32> = (0..sampler.count() as u32).collect();
                shuffle(&mut order, &mut Stream::Split.rng(self.seed));
                for (place, &index) in order[..samples + self.held_out].iter().enumerate() {
                    let part = if place < samples {
                        &mut train
                    } else {
                        &mut held_out
                    };
                    part.push_labelled(&sampler.nth(index.into()), rule, self.n_classes);
                }
            }
            Generator::Chacha => {
                let mut rng = Stream::Data.rng(self.seed);
                for label in draws.labels(0, samples, &mut rng) {
                    train.push_labelled(&draws.draw(label, &mut rng), rule, self.n_classes);
                }
            }
        }
        if matches!(draws.generator, Generator::Numpy | Generator::Chacha) {
            held_out = held_out_of(self, &draws, &train)?;
        }
        if let Some(fresh) = Fresh::new(self, &held_out, 1, 0) {
            fresh.check()?;
        }
        train.relabel(|label, sample, place| self.noisy(label, sample, place));
        Ok(Splits {
            train,
            held_out,
            tests: Vec::new(),
            texts: None,
        })
    }
}

/// Rows of the same kind as the training rows, none of which is a training row.
fn held_out_of(
    config: &DatasetConfig,
    draws: &Draws<'_>,
    train: &Dataset,
) -> Result<Dataset, InvalidValue> {
    let mut held_out = train.without_samples();
    if config.held_out == 0 {
        return Ok(held_out);
    }
    let seen: HashSet<&[u32]> = train.all_tokens().chunks(train.positions()).collect();
    let mut rng = Stream::Split.rng(config.seed);
    for label in draws.labels(0, config.held_out, &mut rng) {
        let row = (0..ATTEMPTS_PER_SAMPLE)
            .map(|_| draws.draw(label, &mut rng))
            .find(|row| !seen.contains(row.as_slice()));
        let Some(row) = row else {
            let (held_out, count) = (config.held_out, train.len());
            let (of_class, remedy) = match label {
                Some(class) => (
                    format!(" of class {class}"),
                    ", or let chance decide the classes",
                ),
                None => (String::new(), ""),
            };
            let message = format!(
                "cannot find {held_out} samples that differ from the {count} for training: too few{of_class} are possible; \
                 set held_out = 0, ask for fewer samples{remedy}"
            );
            return Err(InvalidValue::new("held_out", message));
        };
        held_out.push_labelled(&row, draws.rule, draws.n_classes);
    }
    Ok(held_out)
}
