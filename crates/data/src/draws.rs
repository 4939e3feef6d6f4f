//! Draws samples with the shares of classes that a config asks for.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::Hash;

use headlight_schema::InvalidValue;
use rand::Rng;

use crate::config::{DatasetConfig, DrawConfig, Source};
use crate::random::shuffle;
use crate::rules::LabelRule;
use crate::sampler::Sampler;

/// Draws before the search for a row that is not known gives up.
const MAX_DRAWS: usize = 10_000;

/// Draws rows, with the shares of classes that the config asks for.
pub(crate) struct ClassShares<'a> {
    pub(crate) sampler: Sampler,
    pub(crate) rule: &'a LabelRule,
    pub(crate) n_classes: usize,
    pub(crate) draw_config: DrawConfig,
}

impl<'a> ClassShares<'a> {
    /// The class shares that a config asks for.
    pub(crate) fn of(config: &'a DatasetConfig) -> Result<Self, InvalidValue> {
        let draw_config = match &config.source {
            Source::Generated(draw_config) => *draw_config,
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
            draw_config,
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
        let mut labels: Vec<_> = match self.draw_config.positive_rate {
            Some(rate) => {
                let until = |samples: u64| (rate * samples as f64).round() as u64;
                let positives = (until(before + samples as u64) - until(before)) as usize;
                let is_positive = (0..samples).map(|sample| sample < positives);
                is_positive.map(|label| Some(label.into())).collect()
            }
            None if self.draw_config.balanced => {
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
    pub(crate) fn requested_classes(&self) -> Vec<Option<u32>> {
        let classes = self.rule.possible_classes(self.sampler, self.n_classes);
        match self.draw_config.positive_rate {
            Some(rate) => {
                let shares = [1.0 - rate, rate].into_iter().zip(0..);
                shares
                    .filter(|&(share, _)| share > 0.0)
                    .map(|(_, class)| Some(class))
                    .collect()
            }
            None if self.draw_config.balanced => classes.map(Some).collect(),
            None => vec![None],
        }
    }

    /// A row of a class, unless chance decides. Sentences have a composition that is `held_out`, or one that is not. `None` if the
    /// class has no row, as far as the search finds.
    pub(crate) fn draw(
        &self,
        class: Option<u32>,
        held_out: bool,
        rng: &mut impl Rng,
    ) -> Option<Vec<u32>> {
        let (rule, sampler, n_classes) = (self.rule, self.sampler, self.n_classes);
        match class {
            None => Some(rule.draw_any(held_out, sampler, rng)),
            // Of one token there is one sample.
            Some(class) if sampler.n_tokens() == 1 => {
                let row = sampler.nth_sample(0);
                (rule.label_for(&row, sampler.cls, n_classes) == class).then_some(row)
            }
            Some(class) => rule.draw_of_class(class, n_classes, sampler, rng),
        }
    }

    /// Draws a row as [`draw`](Self::draw) does, until it is none of the known ones.
    ///
    /// # Errors
    /// When the search gives up: with the beginning of a message.
    pub(crate) fn draw_unknown(
        &self,
        class: Option<u32>,
        held_out: bool,
        known: &HashSet<impl Borrow<[u32]> + Eq + Hash>,
        rng: &mut impl Rng,
    ) -> Result<Vec<u32>, String> {
        let mut drawn = (0..MAX_DRAWS).map_while(|_| self.draw(class, held_out, rng));
        let found = drawn.find(|row| !known.contains(row.as_slice()));
        found.ok_or_else(|| {
            let of_class = class.map_or_else(String::new, |class| format!(" of class {class}"));
            let (count, split) = (known.len(), if held_out { "training" } else { "held-out" });
            format!("too few samples{of_class} differ from the {count} {split} samples")
        })
    }
}
