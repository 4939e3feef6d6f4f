//! Samples that each step draws anew, so that training has as many as it has steps.

use std::collections::HashSet;

use headlight_schema::InvalidValue;
use rand::Rng;

use crate::amounts::SampleCount;
use crate::config::{DatasetConfig, Source};
use crate::dataset::Dataset;
use crate::draws::ClassShares;
use crate::random::Stream;
use crate::task::IGNORED;

/// Draws the samples of each step: a function of the config, the seed and the step alone.
#[derive(Clone, Debug)]
pub struct FreshSamples {
    config: DatasetConfig,
    /// The held-out samples, if no step may draw them.
    excluded: HashSet<Vec<u32>>,
    batch_size: usize,
    seed: u64,
}

impl FreshSamples {
    /// Prepares the draws of batches of a config's samples; `None` if the config has a number of samples. `seed` is that of the
    /// experiment, and `held_out` depends on [`DatasetConfig::seed`], so that all seeds are judged on the same samples.
    pub fn new(
        config: &DatasetConfig,
        held_out: &Dataset,
        batch_size: usize,
        seed: u64,
    ) -> Option<Self> {
        let Source::Generated(draw_config) = &config.source else {
            return None;
        };
        if draw_config.samples != SampleCount::Fresh {
            return None;
        }
        let excluded = (0..held_out.len()).map(|sample| held_out.tokens(sample).to_vec());
        Some(Self {
            config: config.clone(),
            excluded: excluded.filter(|_| draw_config.exclude_held_out).collect(),
            batch_size,
            seed,
        })
    }

    /// The samples of a step, which counts from 0.
    ///
    /// The shares of classes that the config asks for are kept from batch to batch: a batch has as many samples of a class
    /// as the share asks for, to the nearest sample, and all batches so far together have, too.
    ///
    /// # Errors
    /// When there is no sample that is not held out, as far as the search finds.
    pub fn batch(&self, step: usize) -> Result<Dataset, InvalidValue> {
        let mut rng = Stream::Fresh.rng_at(self.seed, step);
        let draws = ClassShares::of(&self.config)?;
        let mut batch = self.config.no_samples();
        let before = step as u64 * self.batch_size as u64;
        for class in draws.labels(before, self.batch_size, &mut rng) {
            let row = self.draw(&draws, class, &mut rng)?;
            let (cls, n_classes) = (self.config.cls, draws.n_classes);
            let mut labels = draws.rule.labels_for(&row, cls, n_classes);
            for label in labels.iter_mut().filter(|label| **label != IGNORED) {
                *label = self.config.noisy_label_with(*label, &mut rng);
            }
            batch.push_each(&row, labels);
        }
        Ok(batch)
    }

    /// Checks that samples are left to draw, of each class that the config asks for.
    pub(crate) fn check(&self) -> Result<(), InvalidValue> {
        let (draws, mut rng) = (ClassShares::of(&self.config)?, Stream::Fresh.rng(self.seed));
        for class in draws.requested_classes() {
            self.draw(&draws, class, &mut rng)?;
        }
        Ok(())
    }

    /// A sample that is not excluded, of a class unless chance decides.
    fn draw(
        &self,
        draws: &ClassShares<'_>,
        class: Option<u32>,
        rng: &mut impl Rng,
    ) -> Result<Vec<u32>, InvalidValue> {
        let row = draws.draw_unknown(class, false, &self.excluded, rng);
        row.map_err(|reason| {
            let remedy = "hold out fewer, or set exclude_held_out = false";
            InvalidValue::new("held_out", format!("{reason}; {remedy}"))
        })
    }
}
