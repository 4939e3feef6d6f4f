//! The logits as a function of the residual stream after attention, in float64.

use headlight_architecture::NormKind;
use headlight_architecture::NormPlace::Post;

use headlight_experiment::config::ExperimentConfig;

/// Logits that are `directions · y / s + offsets`, where `s` is `sqrt(square |y|² + eps)`: of a model whose tail is a classifier and at
/// most one norm.
#[derive(Clone, Debug)]
pub(super) struct Logits {
    /// A single logit comes after one that is 0. `[class][width]`
    pub(super) directions: Vec<Vec<f64>>,
    pub(super) offsets: Vec<f64>,
    /// One over the width; without a norm it is 0, and `eps` is 1.
    pub(super) square: f64,
    pub(super) eps: f64,
    /// Whether `y` is without its mean.
    pub(super) is_centred: bool,
}

impl Logits {
    /// Those of a config's model; `None` if it has a feed-forward layer, a hidden layer of its classifier or two norms in its tail.
    pub(super) fn new(config: &ExperimentConfig, weights: &[f32]) -> Option<Self> {
        let model = &config.model;
        let norms = [
            (model.norm == Post, "blocks.0.norm"),
            (model.has_final_norm(), "final_norm"),
        ];
        let mut norms = norms.into_iter().filter(|norm| norm.0);
        let norm = norms.next();
        if model.d_ff > 0 || model.classifier_hidden > 0 || norms.next().is_some() {
            return None;
        }
        let width = model.d_model;
        let count = model.n_logits(config.data.n_classes);
        let values = |name: &str| parameter(config, weights, name);
        let (gain, bias) = norm.map_or((None, None), |(_, name)| {
            (
                values(&format!("{name}.gamma")),
                values(&format!("{name}.beta")),
            )
        });
        let classifier = values("classifier.weight");
        let tied = values("token_embedding").unwrap_or_default();
        let mut directions: Vec<Vec<f64>> = (0..count)
            .map(|class| {
                let cell = |i: usize| match &classifier {
                    Some(weight) => weight[i * count + class],
                    None => tied[class * width + i],
                };
                (0..width).map(cell).collect()
            })
            .collect();
        let mut offsets = values("classifier.bias").unwrap_or_else(|| vec![0.0; count]);
        for (direction, offset) in directions.iter_mut().zip(&mut offsets) {
            for (i, cell) in direction.iter_mut().enumerate() {
                *offset += bias.as_ref().map_or(0.0, |bias| bias[i] * *cell);
                *cell *= gain.as_ref().map_or(1.0, |gain| gain[i]);
            }
        }
        if count == 1 {
            directions.insert(0, vec![0.0; width]);
            offsets.insert(0, 0.0);
        }
        // The engine has it in float32.
        let eps = f64::from(model.layer_norm_eps as f32);
        let (square, eps) = norm.map_or((0.0, 1.0), |_| (1.0 / width as f64, eps));
        Some(Self {
            directions,
            offsets,
            square,
            eps,
            is_centred: norm.is_some()
                && match model.norm_kind {
                    NormKind::Layer => true,
                    NormKind::Rms => false,
                },
        })
    }

    /// `s`, from `|y|²`.
    pub(super) fn size(&self, square: f64) -> f64 {
        (self.square * square + self.eps).sqrt()
    }

    /// All of them, at a `y` of this `s`.
    pub(super) fn all(&self, y: &[f64], size: f64) -> Vec<f64> {
        let pairs = self.directions.iter().zip(&self.offsets);
        pairs
            .map(|(direction, offset)| dot(direction, y) / size + offset)
            .collect()
    }
}

/// The values of a parameter, if the model has it.
pub(super) fn parameter(
    config: &ExperimentConfig,
    weights: &[f32],
    name: &str,
) -> Option<Vec<f64>> {
    let mut start = 0;
    for parameter in config.model.layout(config.inputs()) {
        let end = start + parameter.size();
        if parameter.name == name {
            let values = weights[start..end].iter();
            return Some(values.map(|&weight| f64::from(weight)).collect());
        }
        start = end;
    }
    None
}

/// Subtracts the mean.
pub(super) fn centre(x: &mut [f64]) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    for x in x {
        *x -= mean;
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
