//! What follows attention, in float64: from the residual stream of the position that is read to the logits.

use headlight_architecture::NormPlace::{None as NoNorm, Post, Pre};
use headlight_architecture::{Activation, NormKind};

use crate::config::ExperimentConfig;

/// Of GELU's approximation by tanh (Hendrycks and Gimpel 2016): `sqrt(2 / pi)`, and the factor of the cube.
const ROOT_TWO_OVER_PI: f64 = 0.797_884_560_802_865_4;
const CUBIC: f64 = 0.044_715;

/// The stages, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    stages: Vec<Stage>,
    activation: Activation,
    /// Of two logits it has the difference, which decides alone.
    classifier: Linear,
}

#[derive(Clone, Debug)]
enum Stage {
    Norm(Norm),
    /// `x + f(n W_1 + b_1) W_2 + b_2`, where `n` is `x` or its norm.
    FeedForward(Option<Norm>, [Linear; 2]),
    /// The classifier's hidden layer, `f(x W + b)`.
    Hidden(Linear),
}

/// A tail of at most one norm, whose logits are `directions · y / s + offsets`, where `s` is `sqrt(|y|² / d + eps)`. More than one
/// are less the same number for all.
#[derive(Clone, Debug)]
pub(super) struct Direct {
    /// `[logit, width]`
    pub(super) directions: Vec<f64>,
    pub(super) offsets: Vec<f64>,
    /// Of the norm; without one, `s` is 1.
    pub(super) eps: Option<f64>,
}

/// `x W + b`.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    /// `[in, out]`
    pub(super) weight: Vec<f64>,
    pub(super) bias: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Norm {
    gain: Vec<f64>,
    bias: Vec<f64>,
    eps: f64,
    is_rms: bool,
}

/// A model's parameters by their names.
pub(super) struct Parameters<'a> {
    pub(super) config: &'a ExperimentConfig,
    pub(super) weights: &'a [f32],
}

impl Parameters<'_> {
    fn values(&self, name: &str) -> Option<Vec<f64>> {
        let mut start = 0;
        for parameter in self.config.model.layout(self.config.inputs()) {
            let end = start + parameter.size();
            if parameter.name == name {
                return Some(
                    self.weights[start..end]
                        .iter()
                        .copied()
                        .map(f64::from)
                        .collect(),
                );
            }
            start = end;
        }
        None
    }

    /// A projection to so many outputs, if the model has it.
    pub(super) fn linear(&self, name: &str, outputs: usize) -> Option<Linear> {
        let bias = self.values(&format!("{name}.bias"));
        Some(Linear {
            weight: self.values(&format!("{name}.weight"))?,
            bias: bias.unwrap_or_else(|| vec![0.0; outputs]),
        })
    }

    fn norm(&self, name: &str) -> Norm {
        let model = &self.config.model;
        let values = |part: &str, default: f64| {
            let values = self.values(&format!("{name}.{part}"));
            values.unwrap_or_else(|| vec![default; model.d_model])
        };
        Norm {
            gain: values("gamma", 1.0),
            bias: values("beta", 0.0),
            // The engine has it in float32.
            eps: f64::from(model.layer_norm_eps as f32),
            is_rms: model.norm_kind == NormKind::Rms,
        }
    }
}

impl Linear {
    fn value(&self, x: &[f64]) -> Vec<f64> {
        let mut out = self.bias.clone();
        for (x, row) in x.iter().zip(self.weight.chunks_exact(out.len())) {
            for (out, weight) in out.iter_mut().zip(row) {
                *out += x * weight;
            }
        }
        out
    }
}

impl Norm {
    fn value(&self, x: &mut [f64]) {
        let width = x.len() as f64;
        if !self.is_rms {
            centre(x);
        }
        let square = x.iter().map(|x| x * x).sum::<f64>() / width;
        let inverse = 1.0 / (square + self.eps).sqrt();
        for ((x, gain), bias) in x.iter_mut().zip(&self.gain).zip(&self.bias) {
            *x = *x * inverse * gain + bias;
        }
    }
}

/// Subtracts the mean.
pub(super) fn centre(x: &mut [f64]) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    for x in x {
        *x -= mean;
    }
}

impl Tail {
    pub(super) fn new(parameters: &Parameters<'_>) -> Self {
        let config = parameters.config;
        let (model, logits) = (&config.model, config.model.n_logits(config.data.n_classes));
        let mut stages = Vec::new();
        if model.norm == Post {
            stages.push(Stage::Norm(parameters.norm("blocks.0.norm")));
        }
        let [hidden, output] =
            [("hidden", model.d_ff), ("output", model.d_model)].map(|(name, width)| {
                parameters.linear(&format!("blocks.0.feed_forward.{name}"), width)
            });
        if let (Some(hidden), Some(output)) = (hidden, output) {
            let norm = || parameters.norm("blocks.0.feed_forward.norm");
            let (before, after) = match model.norm {
                Pre => (Some(norm()), None),
                Post => (None, Some(norm())),
                NoNorm => (None, None),
            };
            stages.push(Stage::FeedForward(before, [hidden, output]));
            stages.extend(after.map(Stage::Norm));
        }
        if model.has_final_norm() {
            stages.push(Stage::Norm(parameters.norm("final_norm")));
        }
        let hidden = parameters.linear("classifier.hidden", model.classifier_hidden);
        stages.extend(hidden.map(Stage::Hidden));
        let mut classifier = parameters
            .linear("classifier", logits)
            .unwrap_or_else(|| tied(parameters, logits));
        if let [first, second] = classifier.bias[..] {
            let pairs = classifier.weight.chunks_exact(2);
            classifier.weight = pairs.map(|pair| pair[1] - pair[0]).collect();
            classifier.bias = vec![second - first];
        }
        Self {
            stages,
            activation: model.activation,
            classifier,
        }
    }

    /// The logits; of two their difference.
    pub(super) fn logits(&self, mut x: Vec<f64>) -> Vec<f64> {
        let activated = |linear: &Linear, x: &[f64]| {
            let mut out = linear.value(x);
            out.iter_mut()
                .for_each(|x| *x = activated(self.activation, *x));
            out
        };
        for stage in &self.stages {
            match stage {
                Stage::Norm(norm) => norm.value(&mut x),
                Stage::FeedForward(norm, [hidden, output]) => {
                    let mut own = x.clone();
                    if let Some(norm) = norm {
                        norm.value(&mut own);
                    }
                    let added = output.value(&activated(hidden, &own));
                    x.iter_mut().zip(added).for_each(|(x, add)| *x += add);
                }
                Stage::Hidden(linear) => x = activated(linear, &x),
            }
        }
        self.classifier.value(&x)
    }

    pub(super) fn logits_count(&self) -> usize {
        self.classifier.bias.len()
    }

    /// The same as one formula, and whether `y` has to be centred for it; `None` if there are more stages than one norm.
    pub(super) fn direct(&self) -> Option<(Direct, bool)> {
        let (width, logits) = (
            self.classifier.weight.len() / self.classifier.bias.len(),
            self.classifier.bias.len(),
        );
        let ones = vec![1.0; width];
        let (gain, bias, eps, is_centred) = match &self.stages[..] {
            [] => (&ones, vec![0.0; width], None, false),
            [Stage::Norm(norm)] => (&norm.gain, norm.bias.clone(), Some(norm.eps), !norm.is_rms),
            _ => return None,
        };
        let direction = |logit: usize| {
            (0..width).map(move |i| gain[i] * self.classifier.weight[i * logits + logit])
        };
        let mut directions: Vec<f64> = (0..logits).flat_map(direction).collect();
        if logits > 1 {
            // Differences of logits count alone.
            for i in 0..width {
                let mean = directions.iter().skip(i).step_by(width).sum::<f64>() / logits as f64;
                directions
                    .iter_mut()
                    .skip(i)
                    .step_by(width)
                    .for_each(|cell| *cell -= mean);
            }
        }
        let direct = Direct {
            directions,
            offsets: self.classifier.value(&bias),
            eps,
        };
        Some((direct, is_centred))
    }
}

/// The transposed token embedding as a classifier.
fn tied(parameters: &Parameters<'_>, logits: usize) -> Linear {
    let table = parameters.values("token_embedding").unwrap_or_default();
    let width = parameters.config.model.d_model;
    let bias = parameters.values("classifier.bias");
    Linear {
        weight: (0..width)
            .flat_map(|i| (0..logits).map(move |class| class * width + i))
            .map(|cell| table[cell])
            .collect(),
        bias: bias.unwrap_or_else(|| vec![0.0; logits]),
    }
}

fn activated(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Relu => x.max(0.0),
        Activation::Gelu => 0.5 * x * libm::erfc(-x * core::f64::consts::FRAC_1_SQRT_2),
        Activation::GeluTanh => {
            0.5 * x * (1.0 + libm::tanh(ROOT_TWO_OVER_PI * (x + CUBIC * x * x * x)))
        }
        Activation::Silu => x / (1.0 + libm::exp(-x)),
    }
}
