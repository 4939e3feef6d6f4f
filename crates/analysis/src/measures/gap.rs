//! The gap: how much the log-odds of class 1 change with the tokens that decide it, and what carries that change.
//!
//! A pair is a sample of class 1, and the same sample with other tokens at the positions that decide, so that its class is 0. With
//! `z` the log-odds of class 1, the gap is the mean over pairs of `z(class 1) - z(class 0)`. What an intervention in the sample of
//! class 0 carries of it is `(z(changed) - z) / gap`, both means over pairs.

use headlight_data::{Dataset, Task};

use super::info::{MeasureInfo, MeasureValue};
use super::subject::Subject;
use headlight_experiment::Error;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{Array, ForwardValues, Intervention, PatchSite, Recording};

/// The most pairs: those of the first samples of class 1.
const MOST_PAIRS: usize = 64;

/// Why a config's models have no gap, as the rest of a sentence about a measure.
fn check(config: &ExperimentConfig) -> Result<(), String> {
    if config.data.task != Task::Classification || config.data.n_classes != 2 {
        let n_classes = config.data.n_classes;
        return Err(format!(
            "needs two classes and one label per sample, and this config has {n_classes} classes"
        ));
    }
    let rule = config.data.rule.as_ref();
    match rule.and_then(|rule| rule.fixed_positions()) {
        Some(_) => Ok(()),
        None => Err(
            "needs a data.rule whose class the same positions decide in every sample, such as \"token-at-position\""
                .to_owned(),
        ),
    }
}

/// How much the log-odds change.
pub(super) static GAP: MeasureInfo = MeasureInfo::number(check, |subject| {
    measured(subject, |pairs, subject| pairs.gap(subject).map(Some))
});

/// The share that the last layer's attention weights carry, with values as they are.
pub(super) static GAP_BY_WEIGHTS: MeasureInfo = MeasureInfo::number(check, |subject| {
    measured(subject, |pairs, subject| pairs.carried(subject, true))
});

/// The share that the last layer's values carry, with attention weights as they are.
pub(super) static GAP_BY_VALUES: MeasureInfo = MeasureInfo::number(check, |subject| {
    measured(subject, |pairs, subject| pairs.carried(subject, false))
});

/// A number that a model's pairs give; without pairs, it is not defined.
fn measured(
    subject: &mut Subject<'_>,
    number: impl FnOnce(&Pairs, &mut Subject<'_>) -> Result<Option<f64>, Error>,
) -> Result<MeasureValue, Error> {
    match Pairs::new(subject)? {
        None => Ok(MeasureValue::Undefined),
        Some(pairs) => Ok(number(&pairs, subject)?.into()),
    }
}

/// Pairs of samples.
struct Pairs {
    one: Dataset,
    zero: Dataset,
    chosen: Vec<u32>,
}

impl Pairs {
    /// The pairs of the first samples of class 1; `None` if there is none.
    fn new(subject: &Subject<'_>) -> Result<Option<Self>, Error> {
        let (config, samples) = (subject.config, subject.samples);
        let Some(rule) = &config.data.rule else {
            return Ok(None);
        };
        let all: Vec<&[u32]> = (0..samples.len())
            .map(|sample| samples.tokens(sample))
            .collect();
        let label = |tokens: &[u32]| rule.label_for(tokens, config.data.cls, 2);
        let mut pairs = Vec::new();
        for (index, tokens) in all.iter().enumerate() {
            if pairs.len() == MOST_PAIRS {
                break;
            }
            if label(tokens) != 1 {
                continue;
            }
            let positions = rule.deciding_positions(tokens, config.data.cls);
            let mut others = all[index..].iter().chain(&all[..index]).map(|other| {
                let mut changed = tokens.to_vec();
                for &position in &positions {
                    changed[position] = other[position];
                }
                changed
            });
            if let Some(changed) = others.find(|changed| label(changed) == 0) {
                pairs.push([tokens.to_vec(), changed]);
            }
        }
        if pairs.is_empty() {
            return Ok(None);
        }
        let (one, zero): (Vec<_>, Vec<_>) = pairs.into_iter().map(<[_; 2]>::into).unzip();
        let chosen = (0..one.len() as u32).collect();
        let dataset = |samples: Vec<Vec<u32>>| config.unlabelled(samples).map_err(Error::Input);
        Ok(Some(Self {
            one: dataset(one)?,
            zero: dataset(zero)?,
            chosen,
        }))
    }

    /// What the model computes for the samples of class 1, or of class 0.
    fn forward(
        &self,
        subject: &mut Subject<'_>,
        of_one: bool,
        changes: &[Intervention],
        recorded: Recording,
    ) -> Result<ForwardValues, Error> {
        let dataset = if of_one { &self.one } else { &self.zero };
        let weights = subject.weights;
        let frozen = &mut subject.frozen;
        frozen.forward(weights, dataset, &self.chosen, changes, recorded)
    }

    /// The gap.
    fn gap(&self, subject: &mut Subject<'_>) -> Result<f64, Error> {
        let mut odds = |of_one| {
            let forward = self.forward(subject, of_one, &[], Recording::Predictions);
            forward.map(|forward| log_odds(&forward))
        };
        Ok(odds(true)? - odds(false)?)
    }

    /// What the last layer's contexts carry, at the readout position or at each of a mean, if they take the weights of the
    /// sample of class 1 and the values of the other, or the reverse.
    fn carried(
        &self,
        subject: &mut Subject<'_>,
        weights_of_one: bool,
    ) -> Result<Option<f64>, Error> {
        let one = self.forward(subject, true, &[], Recording::All)?;
        let zero = self.forward(subject, false, &[], Recording::All)?;
        let (weights, values) = if weights_of_one {
            (&one, &zero)
        } else {
            (&zero, &one)
        };
        let model = &subject.config.model;
        let (layer, heads, d_head) = (model.n_layers - 1, model.n_heads, model.d_head());
        let reads = match subject.config.inputs().read_position {
            _ if subject.config.reads_mean() => 0..self.one.positions(),
            read => read..read + 1,
        };
        let contexts_at = |read: usize| {
            let mut contexts = Vec::new();
            for pair in 0..self.chosen.len() {
                for head in 0..heads {
                    let row = weights.at(Array::Weights, &[pair, layer, head, read]);
                    let values = values.at(Array::Value, &[pair, layer, head]);
                    let mut context = vec![0.0; d_head];
                    for (weight, value) in row.iter().zip(values.chunks(d_head)) {
                        for (context, value) in context.iter_mut().zip(value) {
                            *context += weight * value;
                        }
                    }
                    contexts.extend(context);
                }
            }
            contexts
        };
        let replace = reads.map(|position| Intervention::Patch {
            site: PatchSite::Context(layer),
            position,
            vector: contexts_at(position),
        });
        let replace: Vec<Intervention> = replace.collect();
        let changed = self.forward(subject, false, &replace, Recording::Predictions)?;
        let before = log_odds(&zero);
        let gap = log_odds(&one) - before;
        Ok((gap != 0.0).then(|| (log_odds(&changed) - before) / gap))
    }
}

/// The mean log-odds of class 1.
fn log_odds(forward: &ForwardValues) -> f64 {
    let logits = forward.predictions.logits.chunks(forward.dims.logits);
    let count = logits.len() as f64;
    let odds = logits.map(|logits| match logits {
        [zero, one] => f64::from(*one) - f64::from(*zero),
        logits => f64::from(logits[0]),
    });
    odds.sum::<f64>() / count
}
