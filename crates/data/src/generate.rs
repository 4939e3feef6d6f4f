//! Samples from a seed.

use std::collections::HashSet;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_mt::Mt;

use crate::random::{shuffle, uniform_below, uniform_unit};
use crate::{
    CLS, ClsPlace, Dataset, DatasetConfig, Generator, InvalidValue, LabelRule, Source, Splits,
    Stream,
};

/// Draws a held-out row gives up after, for each row asked for.
const ATTEMPTS_PER_ROW: usize = 100;

impl DatasetConfig {
    /// Draws the dataset: training samples and held-out samples.
    ///
    /// # Errors
    /// When a value is invalid, or the samples come from a file.
    pub fn generate(&self) -> Result<Splits, InvalidValue> {
        self.validate()?;
        match &self.source {
            Source::Generated {
                generator,
                samples,
                positive_rate,
            } => splits(self, *generator, *samples, *positive_rate),
            Source::File(path) => Err(InvalidValue::new(
                "file",
                format!(
                    "the samples of this config come from {}; read that file instead of generating samples",
                    path.display()
                ),
            )),
        }
    }
}

fn splits(
    config: &DatasetConfig,
    generator: Generator,
    samples: usize,
    positive_rate: Option<f64>,
) -> Result<Splits, InvalidValue> {
    let Some(rule) = &config.rule else {
        return Err(InvalidValue::new("rule", "generated samples need a rule"));
    };
    let sampler = Sampler {
        vocab_size: config.vocab_size,
        seq_len: config.seq_len,
        cls: config.cls,
        rule,
    };
    if let Some(rate) = positive_rate {
        sampler.check_reachable(rate)?;
    }
    let train = match generator {
        Generator::Numpy => {
            let mut mt = Mt::new(config.seed as u32);
            sampler.dataset(samples, || sampler.uniform(|| mt.next_u32()))
        }
        Generator::Chacha => sampler.chacha(samples, positive_rate, Stream::Data, config.seed),
    };
    let held_out = sampler.held_out(config, positive_rate, &train)?;
    Ok(Splits { train, held_out })
}

/// Draws samples.
struct Sampler<'a> {
    vocab_size: u32,
    seq_len: usize,
    cls: ClsPlace,
    rule: &'a LabelRule,
}

impl Sampler<'_> {
    fn dataset(&self, samples: usize, mut draw: impl FnMut() -> Vec<u32>) -> Dataset {
        let mut dataset = Dataset::empty(self.seq_len);
        for _ in 0..samples {
            dataset.push_labelled(&draw(), self.rule);
        }
        dataset
    }

    fn chacha(&self, samples: usize, rate: Option<f64>, stream: Stream, seed: u64) -> Dataset {
        let mut rng = stream.rng(seed);
        let Some(rate) = rate else {
            return self.dataset(samples, || self.uniform(|| rng.next_u32()));
        };
        let mut labels = planned_labels(samples, rate, &mut rng).into_iter();
        self.dataset(samples, || {
            self.with_label(labels.next() == Some(true), &mut rng)
        })
    }

    /// Rows of the same kind as the training rows, none of which is a training row.
    fn held_out(
        &self,
        config: &DatasetConfig,
        rate: Option<f64>,
        train: &Dataset,
    ) -> Result<Dataset, InvalidValue> {
        let mut held_out = Dataset::empty(self.seq_len);
        if config.held_out == 0 {
            return Ok(held_out);
        }
        let seen: HashSet<&[u32]> = train.all_tokens().chunks(train.positions()).collect();
        let mut rng = Stream::Split.rng(config.seed);
        let labels: Vec<Option<bool>> = match rate {
            None => vec![None; config.held_out],
            Some(rate) => planned_labels(config.held_out, rate, &mut rng)
                .into_iter()
                .map(Some)
                .collect(),
        };
        for label in labels {
            let row = (0..ATTEMPTS_PER_ROW)
                .map(|_| match label {
                    None => self.uniform(|| rng.next_u32()),
                    Some(label) => self.with_label(label, &mut rng),
                })
                .find(|row| !seen.contains(row.as_slice()));
            let Some(row) = row else {
                return Err(InvalidValue::new(
                    "held_out",
                    format!(
                        "{} samples apart from the {} for training cannot be found: the vocabulary and length \
                         allow too few; set held_out = 0, or ask for fewer samples",
                        config.held_out,
                        train.len()
                    ),
                ));
            };
            held_out.push_labelled(&row, self.rule);
        }
        Ok(held_out)
    }

    /// Tokens drawn uniformly, whatever the label.
    fn uniform(&self, mut next_word: impl FnMut() -> u32) -> Vec<u32> {
        self.sample(|row| {
            row.extend(
                (0..self.seq_len).map(|_| 1 + uniform_below(self.vocab_size - 1, &mut next_word)),
            );
        })
    }

    /// Tokens that `fill` appends, with `[CLS]` where it belongs.
    fn sample(&self, fill: impl FnOnce(&mut Vec<u32>)) -> Vec<u32> {
        let mut row = Vec::with_capacity(self.seq_len + 1);
        if self.cls == ClsPlace::First {
            row.push(CLS);
        }
        fill(&mut row);
        if self.cls == ClsPlace::Last {
            row.push(CLS);
        }
        row
    }

    /// Tokens drawn uniformly from all samples with this label.
    fn with_label(&self, label: bool, rng: &mut ChaCha8Rng) -> Vec<u32> {
        match *self.rule {
            LabelRule::TokenAtPosition { token, position } => {
                let mut row = self.uniform(|| rng.next_u32());
                row[position] = if label {
                    token
                } else {
                    self.other_than(token, rng)
                };
                row
            }
            LabelRule::EqualPositions { first, second } => {
                let mut row = self.uniform(|| rng.next_u32());
                row[second] = if label {
                    row[first]
                } else {
                    self.other_than(row[first], rng)
                };
                row
            }
            LabelRule::TokenAnywhere { token } => self.with_subsequence(&[token], label, rng),
            LabelRule::TokenBeforeToken { first, second } => {
                self.with_subsequence(&[first, second], label, rng)
            }
        }
    }

    /// A uniform token, but not this one.
    fn other_than(&self, token: u32, rng: &mut ChaCha8Rng) -> u32 {
        let other = 1 + uniform_below(self.vocab_size - 2, || rng.next_u32());
        if other < token { other } else { other + 1 }
    }

    /// Uniform over all samples that contain `wanted` in this order with gaps (or that do not).
    ///
    /// Walks the positions once, drawing each token from its exact probability given what is
    /// still to be found and how many positions are left.
    fn with_subsequence(&self, wanted: &[u32], contained: bool, rng: &mut ChaCha8Rng) -> Vec<u32> {
        let hit = 1.0 / f64::from(self.vocab_size - 1);
        let outcomes = subsequence_probabilities(wanted.len(), self.seq_len, hit, contained);
        self.sample(|row| {
            let mut found = 0;
            for left in (0..self.seq_len).rev() {
                let outcome = |found: usize| outcomes[wanted.len() - found][left];
                if found == wanted.len() {
                    row.push(1 + uniform_below(self.vocab_size - 1, || rng.next_u32()));
                    continue;
                }
                let with_hit = hit * outcome(found + 1);
                let without = (1.0 - hit) * outcome(found);
                if uniform_unit(rng) * (with_hit + without) < with_hit {
                    row.push(wanted[found]);
                    found += 1;
                } else {
                    row.push(self.other_than(wanted[found], rng));
                }
            }
        })
    }

    /// Refuses a share of positives for which there is no sample of a class that it needs.
    fn check_reachable(&self, rate: f64) -> Result<(), InvalidValue> {
        // With one token only, every sample is the same one, and each rule holds for it.
        if self.vocab_size == 2 && rate < 1.0 {
            return Err(InvalidValue::new(
                "positive_rate",
                "with vocab_size = 2 there is only one sample, and it is positive; raise vocab_size",
            ));
        }
        Ok(())
    }
}

/// Labels of `samples` samples, `rate` of them positive (rounded), in random order.
fn planned_labels(samples: usize, rate: f64, rng: &mut ChaCha8Rng) -> Vec<bool> {
    let positives = (rate * samples as f64).round() as usize;
    let mut labels: Vec<bool> = (0..samples).map(|sample| sample < positives).collect();
    shuffle(&mut labels, rng);
    labels
}

/// `[missing][left]`: the probability that `missing` tokens, each drawn with probability `hit` a
/// position, are found one after the other within `left` positions, or that they are not. Each is
/// computed by itself: one minus the other would lose all digits of what is rare.
fn subsequence_probabilities(missing: usize, left: usize, hit: f64, found: bool) -> Vec<Vec<f64>> {
    let (done, not_yet) = if found { (1.0, 0.0) } else { (0.0, 1.0) };
    let mut table = vec![vec![done; left + 1]];
    for m in 1..=missing {
        let mut row = vec![not_yet; left + 1];
        for l in 1..=left {
            row[l] = hit * table[m - 1][l - 1] + (1.0 - hit) * row[l - 1];
        }
        table.push(row);
    }
    table
}
