//! The parameters of a model by their names, in float64.

use headlight_architecture::Layout;

use super::linear::{Linear, Vector};
use super::norm::{Norm, Normalized};
use super::tail::{Hidden, Stage, Tail};
use crate::config::ExperimentConfig;

/// A config's model with its weights one after the other.
#[derive(Debug)]
pub(super) struct Parameters<'a> {
    pub(super) config: &'a ExperimentConfig,
    weights: &'a [f32],
    layout: Vec<Layout>,
}

impl<'a> Parameters<'a> {
    pub(super) fn new(config: &'a ExperimentConfig, weights: &'a [f32]) -> Self {
        let layout = config.model.layout(config.inputs());
        Self {
            config,
            weights,
            layout,
        }
    }

    /// The values of a parameter, if the model has it.
    fn values(&self, name: &str) -> Option<&'a [f32]> {
        let mut start = 0;
        for parameter in &self.layout {
            let size = parameter.size();
            if parameter.name == name {
                return Some(&self.weights[start..start + size]);
            }
            start += size;
        }
        None
    }

    /// A projection to so many outputs, if the model has it.
    pub(super) fn linear(&self, name: &str, outputs: usize) -> Option<Linear> {
        let weight = self.values(&format!("{name}.weight"))?;
        let bias = self.values(&format!("{name}.bias"));
        Some(Linear::new(weight, outputs, bias))
    }

    /// A norm, of which the model may have no parameters.
    pub(super) fn norm(&self, name: &str) -> Norm {
        let model = &self.config.model;
        let values = |part: &str, default: f64| {
            let values = self.values(&format!("{name}.{part}"));
            values.map_or_else(
                || vec![default; model.d_model],
                |values| values.iter().map(|&value| f64::from(value)).collect(),
            )
        };
        Norm {
            gain: values("gamma", 1.0),
            bias: values("beta", 0.0),
            // The engine has it in float32.
            eps: f64::from(model.layer_norm_eps as f32),
            is_rms: model.norm_kind == headlight_architecture::NormKind::Rms,
        }
    }

    /// The first block's input at a position that holds a token.
    pub(super) fn embedding(&self, position: usize, token: u32) -> Vector {
        let model = &self.config.model;
        let width = model.d_model;
        let row = |values: &[f32], row: usize| -> Vec<f64> {
            let row = &values[row * width..][..width];
            row.iter().map(|&value| f64::from(value)).collect()
        };
        let table = self.values("token_embedding").unwrap_or_default();
        let mut x = Vector::exact(&row(table, token as usize));
        let positions = self.config.inputs().positions;
        let fixed = model.positions.table(positions, width);
        let added = fixed
            .as_deref()
            .or_else(|| self.values("position_embedding"));
        if let Some(table) = added {
            let last = table.len() / width - 1;
            x.add(&Vector::exact(&row(table, position.min(last))), 1);
        }
        if model.embedding_norm {
            self.norm("embedding_norm")
                .forward(&mut x, 0.0, &mut Normalized::default());
        }
        x
    }

    /// What follows attention.
    pub(super) fn tail(&self) -> Tail {
        use headlight_architecture::NormPlace::{None as NoNorm, Post, Pre};

        let model = &self.config.model;
        let logits = model.n_logits(self.config.data.n_classes);
        let hidden = |name: &str, width: usize| {
            let linear = self.linear(name, width)?;
            Some(Hidden {
                linear,
                activation: model.activation,
            })
        };
        let mut stages = Vec::new();
        if model.norm == Post {
            stages.push(Stage::Norm(self.norm("blocks.0.norm")));
        }
        let feed_forward = "blocks.0.feed_forward";
        if let (Some(hidden), Some(output)) = (
            hidden(&format!("{feed_forward}.hidden"), model.d_ff),
            self.linear(&format!("{feed_forward}.output"), model.d_model),
        ) {
            let norm = || self.norm(&format!("{feed_forward}.norm"));
            let (before, after) = match model.norm {
                Pre => (Some(norm()), None),
                Post => (None, Some(norm())),
                NoNorm => (None, None),
            };
            stages.push(Stage::FeedForward(before, hidden, output));
            stages.extend(after.map(Stage::Norm));
        }
        if model.has_final_norm() {
            stages.push(Stage::Norm(self.norm("final_norm")));
        }
        stages.extend(hidden("classifier.hidden", model.classifier_hidden).map(Stage::Hidden));
        let classifier = self.linear("classifier", logits);
        Tail {
            stages,
            classifier: classifier.unwrap_or_else(|| self.tied(logits)),
        }
    }

    /// The transposed token embedding as a classifier.
    fn tied(&self, logits: usize) -> Linear {
        let width = self.config.model.d_model;
        let table = self.values("token_embedding").unwrap_or_default();
        let cells = (0..width).flat_map(|i| (0..logits).map(move |class| table[class * width + i]));
        let weight: Vec<f32> = cells.collect();
        Linear::new(&weight, logits, self.values("classifier.bias"))
    }
}
