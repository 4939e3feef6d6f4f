//! Models of one block with one head and nothing else: what each token at each position adds to scores and logits. So all
//! samples that are possible can be computed at once.
//!
//! With `q` the token at the position that is read, and `S` the sum over the positions,
//!
//! ```text
//! z_k = own(q)_k + Σ_p e(q, p, t_p) moved(p, t_p)_k / S,    e = exp(score),  S = Σ_p e(q, p, t_p)
//! ```

use core::ops::Range;

use headlight_architecture::mathematics::exp;
use headlight_architecture::{Mask, NormPlace, Pooling, Positions, ProjectionKind};
use headlight_data::Task;

use super::subject::Subject;
use crate::config::ExperimentConfig;

/// A matrix of parameters, and what is added after it.
struct Linear<'a> {
    /// `[in, out]`; `None` for none.
    weight: Option<(&'a [f32], usize)>,
    bias: &'a [f32],
}

impl Linear<'_> {
    fn of(&self, x: &[f64], with_bias: bool) -> Vec<f64> {
        let mut out = match self.weight {
            None => x.to_vec(),
            Some((weight, width)) => {
                let mut out = vec![0.0; width];
                for (x, row) in x.iter().zip(weight.chunks(width)) {
                    for (out, &weight) in out.iter_mut().zip(row) {
                        *out += x * f64::from(weight);
                    }
                }
                out
            }
        };
        if with_bias {
            for (out, &bias) in out.iter_mut().zip(self.bias) {
                *out += f64::from(bias);
            }
        }
        out
    }
}

/// Of an exponential: e^-690 is 1e-300.
const LEAST: f64 = 690.0;

/// What such a model computes, in double precision.
pub(super) struct OneAttention {
    /// The tokens that a position may hold. `[position]`
    pub(super) tokens: Vec<Range<u32>>,
    /// The position that is read.
    pub(super) read: usize,
    pub(super) classes: usize,
    /// Scores of the query of each token at the position that is read. `[query token][position][token]`
    pub(super) scores: Vec<Vec<Vec<f64>>>,
    /// What the value of a token adds to the logits where it has all attention. `[position][token][class]`
    pub(super) moved: Vec<Vec<Vec<f64>>>,
    /// What the vector of a token at the position that is read adds to the logits. `[token][class]`
    pub(super) own: Vec<Vec<f64>>,
}

/// Why a config's models are others, as the rest of a sentence about a measure.
#[allow(clippy::float_cmp)] // A rate of exactly one is none.
pub(super) fn check(config: &ExperimentConfig) -> Result<(), String> {
    let (model, attention) = (&config.model, &config.model.attention);
    let has_one = model.n_layers == 1 && model.n_heads == 1 && model.d_ff == 0;
    let is_bare = model.norm == NormPlace::None
        && !model.embedding_norm
        && model.final_norm != Some(true)
        && model.classifier_hidden == 0
        && !model.tied_embeddings;
    if !has_one || !is_bare {
        return Err(
            "is a measure of one block of attention with one head, and nothing else; it needs model.n_layers = 1, \
             n_heads = 1, d_ff = 0, norm = \"none\" and classifier_hidden = 0"
                .to_owned(),
        );
    }
    let is_plain = attention.softmax
        && attention.rate == 1.0
        && !attention.log_length
        && attention.projections == ProjectionKind::Separate
        && attention.padding_token.is_none()
        && attention.mask == Mask::None;
    let has_positions = matches!(model.positions, Positions::Learned | Positions::None);
    if !is_plain || !has_positions || model.pooling == Some(Pooling::Mean) {
        return Err(
            "is a measure of plain attention from one position; it needs learned positions or none, a softmax, and neither \
             mask nor padding"
                .to_owned(),
        );
    }
    if config.data.task != Task::Classification || config.model.n_logits(config.data.n_classes) < 2
    {
        return Err(
            "needs a logit for each class; with two classes, set model.logits = \"per-class\""
                .to_owned(),
        );
    }
    Ok(())
}

impl OneAttention {
    pub(super) fn new(subject: &Subject<'_>) -> Self {
        let config = subject.config;
        let (inputs, data) = (config.inputs(), &config.data);
        let linear = |name: &str| Linear {
            weight: subject
                .parameter(&format!("{name}.weight"))
                .map(|(values, shape)| (values, shape[1])),
            bias: subject
                .parameter(&format!("{name}.bias"))
                .map_or(&[], |(values, _)| values),
        };
        let [query, key, value, output] = ["query", "key", "value", "output"]
            .map(|part| linear(&format!("blocks.0.attention.{part}")));
        let classifier = linear("classifier");
        let positions = subject.parameter("position_embedding");
        let width = config.model.d_model;
        let input = |position: usize, token: u32| -> Vec<f64> {
            let mut x: Vec<f64> = subject
                .embedding(token)
                .iter()
                .map(|&x| f64::from(x))
                .collect();
            if let Some((rows, shape)) = &positions {
                let row = position.min(shape[0] - 1) * width;
                for (x, &shift) in x.iter_mut().zip(&rows[row..row + width]) {
                    *x += f64::from(shift);
                }
            }
            x
        };
        let all = data.cls.first_token()..data.vocab_size;
        let tokens: Vec<Range<u32>> = (0..inputs.positions)
            .map(|position| {
                if inputs.cls == Some(position) {
                    0..1
                } else {
                    all.clone()
                }
            })
            .collect();
        let read = inputs.read_position;
        let each = |position: usize, of: &dyn Fn(Vec<f64>) -> Vec<f64>| -> Vec<Vec<f64>> {
            tokens[position]
                .clone()
                .map(|token| of(input(position, token)))
                .collect()
        };
        let keys: Vec<Vec<Vec<f64>>> = (0..inputs.positions)
            .map(|position| each(position, &|x| key.of(&x, true)))
            .collect();
        let scale = config.model.attention.factor(config.model.d_head());
        let scores = each(read, &|x| query.of(&x, true))
            .iter()
            .map(|query| {
                let score = |key: &Vec<f64>| {
                    let products = query.iter().zip(key).map(|(q, k)| q * k);
                    products.sum::<f64>() * scale
                };
                keys.iter()
                    .map(|keys| keys.iter().map(score).collect())
                    .collect()
            })
            .collect();
        let moved = (0..inputs.positions)
            .map(|position| {
                each(position, &|x| {
                    classifier.of(&output.of(&value.of(&x, true), false), false)
                })
            })
            .collect();
        let own = each(read, &|mut x| {
            for (x, &bias) in x.iter_mut().zip(output.bias) {
                *x += f64::from(bias);
            }
            classifier.of(&x, true)
        });
        Self {
            tokens,
            read,
            classes: config.model.n_logits(data.n_classes),
            scores,
            moved,
            own,
        }
    }

    /// The exponentials of a query's scores, over that of the largest. `[position][token]`
    pub(super) fn exponentials(&self, query: usize) -> Vec<Vec<f64>> {
        let scores = &self.scores[query];
        let most = scores
            .iter()
            .flatten()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let row = |row: &Vec<f64>| {
            row.iter()
                .map(|score| exp((score - most).max(-LEAST)))
                .collect()
        };
        scores.iter().map(row).collect()
    }
}
