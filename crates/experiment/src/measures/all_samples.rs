//! All samples that are possible, of a model of one block of attention with one head (`one_attention.rs`).
//!
//! Up to the factor `S`, which all logits of a sample share, a sample's logits are sums over its positions of vectors that depend
//! on the position's token and on the query's. So a sample costs one sum of two vectors. Where the label's logit and the largest other
//! one differ by less than [`NEAR`], the engine computes the sample, since it rounds otherwise.

use super::answers::Answers;
use super::info::MeasureInfo;
use super::one_attention::{self, OneAttention};
use super::subject::Subject;
use super::value::Measured;
use crate::config::ExperimentConfig;
use crate::error::Error;
use crate::fused::Recorded;
use crate::metrics::predicted_class;

/// Logits that differ by less are the engine's to compare.
const NEAR: f64 = 1e-4;

/// The most samples.
const MOST: f64 = 33_554_432.0;

/// Why a config's models are others, or their samples too many, as the rest of a sentence about a measure.
pub(super) fn check(config: &ExperimentConfig) -> Result<(), String> {
    one_attention::check(config)?;
    let data = &config.data;
    if data.rule.is_none() {
        return Err("needs data.rule, which gives all samples their labels".to_owned());
    }
    let tokens = f64::from(data.vocab_size - data.cls.first_token());
    let count = tokens.powf(data.seq_len as f64);
    if count > MOST {
        return Err(format!(
            "computes all samples, of which there would be {count:.1e}; at most {MOST} are possible"
        ));
    }
    Ok(())
}

/// What is known of a measure of the wrong answers.
pub(super) const fn info(
    range: [f64; 2],
    value: fn(&mut Subject<'_>) -> Result<Measured, Error>,
) -> MeasureInfo {
    MeasureInfo {
        decimals: 3,
        range,
        is_per_head: false,
        check,
        value,
    }
}

impl Subject<'_> {
    /// How the model answers all samples; computed once.
    pub(super) fn answers(&mut self) -> Result<Answers, Error> {
        if let Some(answers) = &self.answers {
            return Ok(answers.clone());
        }
        let model = OneAttention::new(self);
        let config = self.config;
        let label = |tokens: &[u32]| match &config.data.rule {
            Some(rule) => rule.label_for(tokens, config.data.cls, config.data.n_classes),
            None => 0,
        };
        let mut answers = Answers::new(model.classes);
        for query in 0..model.tokens[model.read].len() {
            let mut all = All::of_query(&model, query);
            all.count(&label);
            answers.add(&all.answers);
            let near = computed(self, &all.near, model.classes, &label)?;
            answers.add(&near);
        }
        self.answers = Some(answers.clone());
        Ok(answers)
    }
}

/// The engine's answers to some samples.
fn computed(
    subject: &mut Subject<'_>,
    samples: &[Vec<u32>],
    classes: usize,
    label: &dyn Fn(&[u32]) -> u32,
) -> Result<Answers, Error> {
    let mut answers = Answers::new(classes);
    for samples in samples.chunks(1024) {
        let dataset = subject.config.unlabelled(samples).map_err(Error::Input)?;
        let chosen: Vec<u32> = (0..samples.len() as u32).collect();
        let (frozen, weights) = (&mut subject.frozen, subject.weights);
        let forward = frozen.forward(weights, &dataset, &chosen, &[], Recorded::Predictions)?;
        let logits = forward.predictions.logits.chunks(forward.dims.logits);
        for (logits, tokens) in logits.zip(samples) {
            let logits: Vec<f64> = logits.iter().map(|&logit| f64::from(logit)).collect();
            answers.answer(tokens, label(tokens), predicted_class(&logits));
        }
    }
    Ok(answers)
}

/// All samples with one token at the position that is read.
struct All {
    /// What each token adds to `S` times the logits. `[position][token, class]`
    rows: Vec<Vec<f64>>,
    /// What it adds to `S`. `[position][token]`
    exponentials: Vec<Vec<f64>>,
    /// The first token of each position, and how many there are.
    tokens: Vec<(u32, usize)>,
    classes: usize,
    answers: Answers,
    /// The samples for the engine.
    near: Vec<Vec<u32>>,
}

impl All {
    fn of_query(model: &OneAttention, query: usize) -> Self {
        let exponentials = model.exponentials(query);
        let own = &model.own[query];
        let mut tokens: Vec<(u32, usize)> = model
            .tokens
            .iter()
            .map(|tokens| (tokens.start, tokens.len()))
            .collect();
        let first = tokens[model.read].0 + query as u32;
        tokens[model.read] = (first, 1);
        let of_position = |position: usize| -> (Vec<f64>, Vec<f64>) {
            let start = (tokens[position].0 - model.tokens[position].start) as usize;
            let chosen = start..start + tokens[position].1;
            let weights = &exponentials[position][chosen.clone()];
            let moved = model.moved[position][chosen].iter().zip(weights);
            let rows = moved.flat_map(|(moved, weight)| {
                moved
                    .iter()
                    .zip(own)
                    .map(move |(moved, own)| weight * (moved + own))
            });
            (rows.collect(), weights.to_vec())
        };
        let (rows, exponentials) = (0..tokens.len()).map(of_position).unzip();
        Self {
            rows,
            exponentials,
            tokens,
            classes: model.classes,
            answers: Answers::new(model.classes),
            near: Vec::new(),
        }
    }

    fn count(&mut self, label: &dyn Fn(&[u32]) -> u32) {
        let mut sample: Vec<u32> = self.tokens.iter().map(|(first, _)| *first).collect();
        // The position with the most tokens is the inner loop.
        let inner = (0..self.tokens.len())
            .rev()
            .max_by_key(|&position| self.tokens[position].1)
            .unwrap_or(0);
        let outer: Vec<usize> = (0..self.tokens.len())
            .filter(|&position| position != inner)
            .collect();
        let start = (vec![0.0; self.classes], 0.0);
        self.from(&outer, inner, &mut sample, start, label);
    }

    /// All tokens of the positions that are left.
    fn from(
        &mut self,
        outer: &[usize],
        inner: usize,
        sample: &mut [u32],
        (sum, total): (Vec<f64>, f64),
        label: &dyn Fn(&[u32]) -> u32,
    ) {
        let classes = self.classes;
        let Some((&position, rest)) = outer.split_first() else {
            return self.of_sum(inner, sample, (&sum, total), label);
        };
        let (first, count) = self.tokens[position];
        for token in 0..count {
            sample[position] = first + token as u32;
            let row = &self.rows[position][token * classes..][..classes];
            let sum = sum.iter().zip(row).map(|(sum, row)| sum + row).collect();
            let total = total + self.exponentials[position][token];
            self.from(rest, inner, sample, (sum, total), label);
        }
    }

    /// All tokens of the last position.
    fn of_sum(
        &mut self,
        position: usize,
        sample: &mut [u32],
        (sum, total): (&[f64], f64),
        label: &dyn Fn(&[u32]) -> u32,
    ) {
        let first = self.tokens[position].0;
        let rows = self.rows[position].chunks(self.classes);
        let mut logits = vec![0.0; self.classes];
        for (token, (row, own)) in rows.zip(&self.exponentials[position]).enumerate() {
            sample[position] = first + token as u32;
            let label = label(sample);
            for ((logit, sum), row) in logits.iter_mut().zip(sum).zip(row) {
                *logit = sum + row;
            }
            let found = core::mem::replace(&mut logits[label as usize], f64::NEG_INFINITY);
            let margin = found - largest(&logits);
            if margin.abs() < NEAR * (total + own) {
                self.near.push(sample.to_vec());
                continue;
            }
            let predicted = if margin > 0.0 {
                label
            } else {
                predicted_class(&logits)
            };
            self.answers.answer(sample, label, predicted);
        }
    }
}

/// The largest number, in parts that do not wait for one another.
fn largest(values: &[f64]) -> f64 {
    let mut most = [f64::NEG_INFINITY; 8];
    let (eights, rest) = values.as_chunks::<8>();
    for eight in eights {
        for (most, &value) in most.iter_mut().zip(eight) {
            *most = if value > *most { value } else { *most };
        }
    }
    let all = most.iter().chain(rest);
    all.fold(f64::NEG_INFINITY, |most, &value| most.max(value))
}
