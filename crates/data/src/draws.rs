//! Draws samples with the shares of classes that a config asks for.

use headlight_keys::InvalidValue;
use rand::Rng;

use crate::config::{DatasetConfig, Source};
use crate::generator::Generator;
use crate::random::shuffle;
use crate::rules::LabelRule;
use crate::sampler::Sampler;

/// Draws rows, with the shares of classes that the config asks for.
pub(crate) struct Draws<'a> {
    pub(crate) sampler: Sampler,
    pub(crate) rule: &'a LabelRule,
    pub(crate) n_classes: usize,
    pub(crate) generator: Generator,
    positive_rate: Option<f64>,
    balanced: bool,
}

impl<'a> Draws<'a> {
    /// What draws a config's samples.
    ///
    /// # Errors
    /// When samples come from a file, or have no rule.
    pub(crate) fn of(config: &'a DatasetConfig) -> Result<Self, InvalidValue> {
        let (generator, positive_rate, balanced) = match &config.source {
            Source::Generated {
                generator,
                positive_rate,
                balanced,
                ..
            }
            | Source::Fresh {
                generator,
                positive_rate,
                balanced,
                ..
            } => (*generator, *positive_rate, *balanced),
            Source::File(path) => {
                let message = format!(
                    "the samples come from the file {}, but only generated samples are supported here; \
                     remove `file` and set `samples`",
                    path.display()
                );
                return Err(InvalidValue::new("file", message));
            }
        };
        let Some(rule) = &config.rule else {
            return Err(InvalidValue::new("rule", "generated samples need a rule"));
        };
        Ok(Self {
            sampler: config.sampler(),
            rule,
            n_classes: config.n_classes,
            generator,
            positive_rate,
            balanced,
        })
    }

    /// The labels to draw for, after so many samples before: the given share of positives (rounded) or equal shares of the
    /// classes in random order, or `None` for each row where chance decides. The shares are those of all samples so far.
    pub(crate) fn labels(
        &self,
        before: u64,
        samples: usize,
        rng: &mut impl Rng,
    ) -> Vec<Option<u32>> {
        let classes = self.rule.possible_classes(self.sampler, self.n_classes);
        let mut labels: Vec<_> = match self.positive_rate {
            Some(rate) => {
                let until = |samples: u64| (rate * samples as f64).round() as u64;
                let positives = (until(before + samples as u64) - until(before)) as usize;
                let is_positive = (0..samples).map(|sample| sample < positives);
                is_positive.map(|label| Some(label.into())).collect()
            }
            None if self.balanced => {
                let first = before % (classes.len() as u64).max(1);
                let classes = classes.cycle().skip(first as usize);
                classes.take(samples).map(Some).collect()
            }
            None => return vec![None; samples],
        };
        shuffle(&mut labels, rng);
        labels
    }

    /// The classes that [`labels`](Self::labels) can ask for; `None` where chance decides.
    pub(crate) fn wanted(&self) -> Vec<Option<u32>> {
        let classes = self.rule.possible_classes(self.sampler, self.n_classes);
        match self.positive_rate {
            Some(rate) => {
                let shares = [1.0 - rate, rate].into_iter().zip(0..);
                shares
                    .filter(|&(share, _)| share > 0.0)
                    .map(|(_, class)| Some(class))
                    .collect()
            }
            None if self.balanced => classes.map(Some).collect(),
            None => vec![None],
        }
    }

    /// A row of a class, unless chance decides.
    pub(crate) fn draw(&self, class: Option<u32>, rng: &mut impl Rng) -> Vec<u32> {
        match class {
            None => self.rule.compose(false, self.sampler, rng),
            Some(class) => self.rule.draw(class, self.n_classes, self.sampler, rng),
        }
    }
}
