//! Problems: a model with its parameters, its training and samples of it.
#![allow(dead_code, missing_docs, unreachable_pub)]

#[path = "../../../architecture/tests/definition/mod.rs"]
pub mod definition;
#[path = "../../../architecture/tests/common/mod.rs"]
mod small;

use definition::{Definition, Values, draw::Draw};
use headlight_architecture::{Inputs, ModelConfig, Readout};
use headlight_fused::{
    Adam, AdamW, Architecture, BatchPredictions, CrossEntropy, IGNORED, Model, Optimizer, Samples,
    Sgd, TrainingSettings,
};
use proptest::prelude::*;
pub use small::inputs;

/// Parameters and samples of a model.
#[derive(Clone, Debug)]
pub struct Problem {
    pub model: ModelConfig,
    pub inputs: Inputs,
    pub training: TrainingSettings,
    pub weights: Vec<f32>,
    pub tokens: Vec<u32>,
    pub labels: Vec<u32>,
}

/// Numbers that need no generator: the fractional parts of multiples of the golden ratio.
pub fn spread(index: usize) -> f32 {
    (index as f64 * 0.618_033_988_749_894_9).fract() as f32
}

/// The notebook's model with so many samples.
pub fn notebook(samples: usize) -> Problem {
    problem(ModelConfig::new(8, 1, 1), inputs(51, 7), samples)
}

/// Samples, weights of at most a half, and `[CLS]` in the place that is read.
pub fn problem(model: ModelConfig, inputs: Inputs, samples: usize) -> Problem {
    let token = |i: usize| {
        if i % inputs.positions == inputs.read_position {
            return 0;
        }
        1 + (spread(7 * i) * (inputs.vocab_size - 1) as f32) as u32
    };
    let weights = (0..model.parameter_count(inputs)).map(|i| spread(i) - 0.5);
    let weights = weights.collect();
    let tokens = (0..samples * inputs.positions).map(token).collect();
    Problem::new(model, inputs, weights, tokens)
}

/// The notebook's kind of model, which has a step of its own.
pub fn any_notebook() -> impl Strategy<Value = Problem> {
    any::<u64>().prop_map(|seed| {
        let mut draw = Draw(seed);
        let inputs = inputs(2 + draw.below(18), 1 + draw.below(8));
        let model = ModelConfig::new([8, 16][draw.below(2)], 1, 1);
        drawn(&mut draw, model, inputs)
    })
}

/// Any model.
pub fn any_model() -> impl Strategy<Value = Problem> {
    any::<u64>().prop_map(|seed| {
        let mut draw = Draw(seed);
        let (model, inputs) = draw.model();
        drawn(&mut draw, model, inputs)
    })
}

fn drawn(draw: &mut Draw, model: ModelConfig, inputs: Inputs) -> Problem {
    let (weights, samples) = (draw.parameters(&model, inputs), 1 + draw.below(19));
    let tokens = draw.samples(inputs, samples);
    Problem::new(model, inputs, weights, tokens)
}

impl Problem {
    /// Where every position is read, padding and some others have no label.
    fn new(model: ModelConfig, inputs: Inputs, weights: Vec<f32>, tokens: Vec<u32>) -> Self {
        let padding = model.attention.padding_token;
        let label = |i: usize| match inputs.n_classes {
            _ if inputs.per_position && (Some(tokens[i]) == padding || spread(5 * i) < 0.2) => {
                IGNORED
            }
            2 => u32::from(spread(3 * i) < 0.3),
            classes => (spread(3 * i) * classes as f32) as u32,
        };
        let count = tokens.len()
            / if inputs.per_position {
                1
            } else {
                inputs.positions
            };
        Self {
            training: trainings()[weights.len() % 4],
            labels: (0..count).map(label).collect(),
            model,
            inputs,
            weights,
            tokens,
        }
    }

    /// The same model with other samples.
    #[must_use]
    pub fn with_samples(mut self, count: usize) -> Self {
        let tokens = Draw(7).samples(self.inputs, count);
        let weights = std::mem::take(&mut self.weights);
        Self {
            training: self.training,
            ..Self::new(self.model, self.inputs, weights, tokens)
        }
    }

    pub fn architecture(&self) -> Architecture {
        Architecture::new(&self.model, self.inputs).unwrap()
    }

    pub fn definition(&self) -> Definition<'_> {
        Definition::new(&self.model, self.inputs, &self.weights)
    }

    pub fn trained_by(&self, training: impl Into<TrainingSettings>) -> Model {
        Model::new(&self.architecture(), training, &self.weights)
    }

    pub fn predictions(&self) -> BatchPredictions {
        let mut predictions = BatchPredictions::default();
        let mut model = self.trained_by(self.training);
        model.predict(self.samples(), &self.all(), &mut predictions);
        predictions
    }

    pub fn samples(&self) -> Samples<'_> {
        Samples::new(&self.tokens, &self.labels)
    }

    /// The tokens of each sample.
    pub fn rows(&self) -> impl Iterator<Item = &[u32]> {
        self.tokens.chunks(self.inputs.positions)
    }

    /// All samples.
    pub fn all(&self) -> Vec<u32> {
        (0..(self.tokens.len() / self.inputs.positions) as u32).collect()
    }

    /// Of what the definition computes for a sample, the attention of the positions that are read in the last block.
    pub fn attention(&self, tokens: &[u32], values: &Values) -> Vec<f64> {
        let p = self.inputs.positions;
        let is_padding = |at: usize| Some(tokens[at]) == self.model.attention.padding_token;
        let readout = self.model.readout(self.inputs);
        let mut read = self.inputs.read_position;
        // Of a mean, the last position without padding stands for one that holds padding.
        if readout == Readout::Mean && is_padding(read) {
            read = (0..p).rev().find(|&at| !is_padding(at)).unwrap_or(read);
        }
        let rows = values.blocks[self.model.n_layers - 1]["attention_weights"].chunks(p);
        let own = rows
            .enumerate()
            .filter(|(row, _)| readout == Readout::Every || row % p == read);
        own.flat_map(|(_, row)| row.to_vec()).collect()
    }

    /// The cross-entropies of the answers that count, sample by sample.
    pub fn losses(&self, definition: &Definition<'_>) -> Vec<Vec<f64>> {
        let architecture = self.architecture();
        let of_answer = |(z, &label): (&[f64], &u32)| match z {
            _ if label == IGNORED => None,
            &[z] => Some(z.max(0.0) - z * f64::from(label) + (-z.abs()).exp().ln_1p()),
            z => Some(z.iter().map(|z| z.exp()).sum::<f64>().ln() - z[label as usize]),
        };
        let pairs = self.rows().zip(self.labels.chunks(architecture.answers()));
        let of_sample = |(tokens, labels): (&[u32], &[u32])| {
            let logits = definition.forward(tokens).logits;
            let answers = logits.chunks(architecture.n_logits()).zip(labels);
            answers.filter_map(of_answer).collect()
        };
        pairs.map(of_sample).collect()
    }

    /// The mean cross-entropy of the answers that count.
    pub fn loss(&self, definition: &Definition<'_>) -> f64 {
        let losses: Vec<f64> = self.losses(definition).concat();
        losses.iter().sum::<f64>() / losses.len().max(1) as f64
    }
}

/// The root of the sum of squares.
pub fn norm(values: &[f32]) -> f64 {
    let squares = values.iter().map(|&value| f64::from(value).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Keras's Adam, and three others.
pub fn trainings() -> [TrainingSettings; 4] {
    let sgd = Sgd {
        learning_rate: 0.05,
        momentum: 0.9,
    };
    let adam_w = AdamW {
        adam: Adam {
            epsilon: 1e-8,
            ..adam()
        },
        weight_decay: 0.1,
    };
    let cross_entropy = CrossEntropy {
        is_accurate: true,
        smoothing: 0.1,
        per_sample: false,
        is_weighted: false,
    };
    let of = |optimizer| TrainingSettings {
        optimizer,
        ..TrainingSettings::default()
    };
    [
        adam().into(),
        of(Optimizer::Sgd(sgd)),
        TrainingSettings {
            cross_entropy,
            ..of(Optimizer::AdamW(adam_w))
        },
        TrainingSettings {
            max_grad_norm: Some(0.5),
            ..of(Optimizer::AdamW(adam_w))
        },
    ]
}

pub fn adam() -> Adam {
    Adam {
        learning_rate: 1e-2,
        ..Adam::default()
    }
}
