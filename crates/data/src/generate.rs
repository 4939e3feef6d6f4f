//! Datasets from a seed.

use std::collections::HashSet;

use rand::Rng;
use rand_mt::Mt;

use crate::config::{DatasetConfig, Source};
use crate::dataset::{Dataset, Splits};
use crate::generator::Generator;
use crate::random::{Stream, shuffle};
use crate::rules::LabelRule;
use crate::sampler::Sampler;
use headlight_keys::InvalidValue;

/// Draws per held-out sample before the search for one gives up.
const ATTEMPTS_PER_SAMPLE: usize = 100;

impl DatasetConfig {
    /// Draws the dataset: training samples and held-out samples.
    ///
    /// # Errors
    /// When a value is invalid, or the samples come from a file.
    pub fn generate(&self) -> Result<Splits, InvalidValue> {
        self.validate()?;
        let (generator, samples, positive_rate, balanced) = match &self.source {
            Source::Generated {
                generator,
                samples,
                positive_rate,
                balanced,
            } => (*generator, *samples, *positive_rate, *balanced),
            Source::File(path) => {
                let message = format!(
                    "the samples come from the file {}, but only generated samples are supported here; \
                     remove `file` and set `samples`",
                    path.display()
                );
                return Err(InvalidValue::new("file", message));
            }
        };
        let Some(rule) = &self.rule else {
            return Err(InvalidValue::new("rule", "generated samples need a rule"));
        };
        let rows = Rows {
            sampler: self.sampler(),
            rule,
            n_classes: self.n_classes,
            positive_rate,
            balanced,
        };
        let mut train = Dataset::empty(self.seq_len, self.cls).for_task(self.task);
        let mut held_out = train.without_samples();
        match generator {
            Generator::Numpy => {
                let mut mt = Mt::new(self.seed as u32);
                for _ in 0..samples {
                    train.push_labelled(&rows.sampler.any(|| mt.next_u32()), rule, self.n_classes);
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
                        let row = rule.compose(is_held_out, rows.sampler, &mut rng);
                        part.push_labelled(&row, rule, self.n_classes);
                    }
                }
            }
            Generator::All => {
                let mut order: Vec<u32> = (0..rows.sampler.count() as u32).collect();
                shuffle(&mut order, &mut Stream::Split.rng(self.seed));
                for (place, &index) in order[..samples + self.held_out].iter().enumerate() {
                    let part = if place < samples {
                        &mut train
                    } else {
                        &mut held_out
                    };
                    part.push_labelled(&rows.sampler.nth(index.into()), rule, self.n_classes);
                }
            }
            Generator::Chacha => {
                let mut rng = Stream::Data.rng(self.seed);
                for label in rows.labels(samples, &mut rng) {
                    train.push_labelled(&rows.draw(label, &mut rng), rule, self.n_classes);
                }
            }
        }
        if matches!(generator, Generator::Numpy | Generator::Chacha) {
            held_out = rows.held_out(self, &train)?;
        }
        train.relabel(|label, sample, place| self.noisy(label, sample, place));
        Ok(Splits {
            train,
            held_out,
            texts: None,
        })
    }
}

/// Draws rows, with the shares of classes that the config asks for.
struct Rows<'a> {
    sampler: Sampler,
    rule: &'a LabelRule,
    n_classes: usize,
    positive_rate: Option<f64>,
    balanced: bool,
}

impl Rows<'_> {
    /// The labels to draw for: the given share of positives (rounded) or equal shares of the classes in random order, or `None`
    /// for each row where chance decides.
    fn labels(&self, samples: usize, rng: &mut impl Rng) -> Vec<Option<u32>> {
        let classes = self.rule.possible_classes(self.sampler, self.n_classes);
        let mut labels: Vec<_> = match self.positive_rate {
            Some(rate) => {
                let positives = (rate * samples as f64).round() as usize;
                let is_positive = (0..samples).map(|sample| sample < positives);
                is_positive.map(|label| Some(label.into())).collect()
            }
            None if self.balanced => classes.cycle().take(samples).map(Some).collect(),
            None => return vec![None; samples],
        };
        shuffle(&mut labels, rng);
        labels
    }

    fn draw(&self, class: Option<u32>, rng: &mut impl Rng) -> Vec<u32> {
        match class {
            None => self.rule.compose(false, self.sampler, rng),
            Some(class) => self.rule.draw(class, self.n_classes, self.sampler, rng),
        }
    }

    /// Rows of the same kind as the training rows, none of which is a training row.
    fn held_out(&self, config: &DatasetConfig, train: &Dataset) -> Result<Dataset, InvalidValue> {
        let mut held_out = train.without_samples();
        if config.held_out == 0 {
            return Ok(held_out);
        }
        let seen: HashSet<&[u32]> = train.all_tokens().chunks(train.positions()).collect();
        let mut rng = Stream::Split.rng(config.seed);
        for label in self.labels(config.held_out, &mut rng) {
            let row = (0..ATTEMPTS_PER_SAMPLE)
                .map(|_| self.draw(label, &mut rng))
                .find(|row| !seen.contains(row.as_slice()));
            let Some(row) = row else {
                return Err(InvalidValue::new(
                    "held_out",
                    format!(
                        "cannot find {} samples that differ from the {} for training: the vocabulary and \
                         the length allow too few; set held_out = 0, or ask for fewer samples",
                        config.held_out,
                        train.len()
                    ),
                ));
            };
            held_out.push_labelled(&row, self.rule, self.n_classes);
        }
        Ok(held_out)
    }
}
