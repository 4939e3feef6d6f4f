//! The parameters of a model, in the model's order: name, shape and initial values of each.
//!
//! A name is a path in the model (`blocks.0.attention.query.weight`); matrices are `[in, out]`, as in Keras. What a
//! scheme of `[model.init]` draws is in `scheme.rs`.

use crate::init::{Initializer, Initializers, MatrixKind};
use crate::{Inputs, ModelConfig, NormPlace, Positions, ProjectionKind};

/// A parameter without its values.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSpec {
    /// Its path in the model.
    pub name: String,
    /// Extent of each axis.
    pub shape: Vec<usize>,
    /// Its initial values.
    pub initial: Initializer,
}

impl ModelConfig {
    /// All parameters of a model with such inputs, in the model's order.
    pub fn layout(&self, inputs: Inputs) -> Vec<ParameterSpec> {
        self.list(inputs).parameters
    }

    /// The key of a matrix whose standard deviation the config lacks, under `[model.init.std]`.
    pub(crate) fn missing_std(&self, inputs: Inputs) -> Option<&'static str> {
        self.list(inputs).initializers.missing
    }

    fn list(&self, inputs: Inputs) -> ParameterList<'_> {
        let d_model = self.d_model;
        let mut list = ParameterList {
            parameters: Vec::new(),
            initializers: Initializers::new(self, inputs),
            has_gain: self.norm_gain,
            has_shift: self.has_norm_bias(),
        };
        let table = [inputs.vocab_size, d_model];
        list.matrix("token_embedding", table, MatrixKind::TokenEmbedding);
        if self.positions == Positions::Learned {
            let table = [self.position_rows(inputs.positions), d_model];
            list.matrix("position_embedding", table, MatrixKind::PositionEmbedding);
        }
        if self.embedding_norm {
            list.norm("embedding_norm", d_model);
        }
        for layer in 0..self.n_layers {
            let block = format!("blocks.{layer}");
            list.attention(self, &format!("{block}.attention"));
            let has_norms = self.norm != NormPlace::None;
            if has_norms {
                list.norm(&format!("{block}.norm"), d_model);
            }
            if self.d_ff > 0 {
                let (name, bias) = (format!("{block}.feed_forward"), self.feed_forward_bias);
                let (hidden, output) = (format!("{name}.hidden"), format!("{name}.output"));
                let shape = [d_model, self.d_ff];
                list.linear(&hidden, shape, MatrixKind::FeedForwardHidden, bias);
                let shape = [self.d_ff, d_model];
                list.linear(&output, shape, MatrixKind::FeedForwardOutput, bias);
                if has_norms {
                    list.norm(&format!("{name}.norm"), d_model);
                }
            }
        }
        if self.has_final_norm() {
            list.norm("final_norm", d_model);
        }
        let (logits, bias) = (self.n_logits(inputs.n_classes), self.classifier_bias);
        let mut width = d_model;
        if self.classifier_hidden > 0 {
            width = self.classifier_hidden;
            let (name, shape) = ("classifier.hidden", [d_model, width]);
            list.linear(name, shape, MatrixKind::ClassifierHidden, bias);
        }
        if !self.tied_embeddings {
            list.matrix("classifier.weight", [width, logits], MatrixKind::Classifier);
        }
        if bias {
            list.bias("classifier.bias", [width, logits], MatrixKind::Classifier);
        }
        list
    }

    /// Rows of the table of learned positions.
    pub fn position_rows(&self, positions: usize) -> usize {
        self.positions_shared_from
            .map_or(positions, |shared| positions.min(shared + 1))
    }
}

impl ParameterSpec {
    /// How many numbers the parameter has.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }
}

impl ProjectionKind {
    /// The projections that queries, keys and values come from.
    fn names(self) -> &'static [(&'static str, MatrixKind)] {
        match self {
            Self::Separate => &[
                ("query", MatrixKind::Query),
                ("key", MatrixKind::Key),
                ("value", MatrixKind::Value),
            ],
            Self::Shared => &[("shared", MatrixKind::Query)],
            Self::None => &[],
        }
    }
}

/// Builds the list of parameters.
struct ParameterList<'a> {
    parameters: Vec<ParameterSpec>,
    initializers: Initializers<'a>,
    /// Whether norms have a gain and a bias.
    has_gain: bool,
    has_shift: bool,
}

impl ParameterList<'_> {
    fn push(&mut self, name: &str, shape: &[usize], initial: Initializer) {
        self.parameters.push(ParameterSpec {
            name: name.to_owned(),
            shape: shape.to_vec(),
            initial,
        });
    }

    /// A matrix `[fan_in, fan_out]`.
    fn matrix(&mut self, name: &str, shape: [usize; 2], part: MatrixKind) {
        let initial = self.initializers.matrix(part, shape);
        self.push(name, &shape, initial);
    }

    /// The biases of a matrix with this shape.
    fn bias(&mut self, name: &str, shape: [usize; 2], part: MatrixKind) {
        let initial = self.initializers.bias(part, shape);
        self.push(name, &shape[1..], initial);
    }

    /// A projection with weights `[fan_in, fan_out]` and, if it has them, biases.
    fn linear(&mut self, name: &str, shape: [usize; 2], part: MatrixKind, has_bias: bool) {
        self.matrix(&format!("{name}.weight"), shape, part);
        if has_bias {
            self.bias(&format!("{name}.bias"), shape, part);
        }
    }

    /// The projections of attention.
    fn attention(&mut self, model: &ModelConfig, name: &str) {
        let (attention, heads) = (&model.attention, model.n_heads * model.d_head());
        for (projection, part) in attention.projections.names() {
            if *part != MatrixKind::Value || attention.value_projection {
                let (name, shape) = (format!("{name}.{projection}"), [model.d_model, heads]);
                self.linear(&name, shape, *part, attention.bias);
            }
        }
        if attention.output_projection {
            let (name, shape) = (format!("{name}.output"), [heads, model.d_model]);
            let bias = attention.output_bias;
            self.linear(&name, shape, MatrixKind::AttentionOutput, bias);
        }
    }

    fn norm(&mut self, name: &str, size: usize) {
        if self.has_gain {
            self.push(
                &format!("{name}.gamma"),
                &[size],
                Initializer::Constant(1.0),
            );
        }
        if self.has_shift {
            self.push(&format!("{name}.beta"), &[size], Initializer::Constant(0.0));
        }
    }
}
