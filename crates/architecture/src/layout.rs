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
        self.list(inputs).all
    }

    /// The key of a matrix whose standard deviation the config lacks, under `[model.init.std]`.
    pub(crate) fn missing_std(&self, inputs: Inputs) -> Option<&'static str> {
        self.list(inputs).draw.missing
    }

    fn list(&self, inputs: Inputs) -> List<'_> {
        let (d_model, heads) = (self.d_model, self.n_heads * self.d_head());
        let attention = &self.attention;
        let mut list = List {
            all: Vec::new(),
            draw: Initializers::new(self, inputs),
            gain: self.norm_gain,
            shift: self.has_norm_bias(),
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
            for (projection, part) in attention.projections.names() {
                if *part == MatrixKind::Value && !attention.value_projection {
                    continue;
                }
                let name = format!("{block}.attention.{projection}");
                list.linear(&name, [d_model, heads], *part, attention.bias);
            }
            if attention.output_projection {
                let (name, shape) = (format!("{block}.attention.output"), [heads, d_model]);
                list.linear(
                    &name,
                    shape,
                    MatrixKind::AttentionOutput,
                    attention.output_bias,
                );
            }
            let has_norms = self.norm != NormPlace::None;
            if has_norms {
                list.norm(&format!("{block}.norm"), d_model);
            }
            if self.d_ff > 0 {
                let (name, bias) = (format!("{block}.feed_forward"), self.feed_forward_bias);
                for (part, shape, of) in [
                    (
                        "hidden",
                        [d_model, self.d_ff],
                        MatrixKind::FeedForwardHidden,
                    ),
                    (
                        "output",
                        [self.d_ff, d_model],
                        MatrixKind::FeedForwardOutput,
                    ),
                ] {
                    list.linear(&format!("{name}.{part}"), shape, of, bias);
                }
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
            let shape = [d_model, width];
            list.linear(
                "classifier.hidden",
                shape,
                MatrixKind::ClassifierHidden,
                bias,
            );
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
struct List<'a> {
    all: Vec<ParameterSpec>,
    draw: Initializers<'a>,
    /// Whether norms have a gain and a bias.
    gain: bool,
    shift: bool,
}

impl List<'_> {
    fn push(&mut self, name: &str, shape: &[usize], initial: Initializer) {
        self.all.push(ParameterSpec {
            name: name.to_owned(),
            shape: shape.to_vec(),
            initial,
        });
    }

    /// A matrix `[fan_in, fan_out]`.
    fn matrix(&mut self, name: &str, shape: [usize; 2], part: MatrixKind) {
        let initial = self.draw.matrix(part, shape);
        self.push(name, &shape, initial);
    }

    /// The biases of a matrix with this shape.
    fn bias(&mut self, name: &str, shape: [usize; 2], part: MatrixKind) {
        let initial = self.draw.bias(part, shape);
        self.push(name, &shape[1..], initial);
    }

    /// A projection with weights `[fan_in, fan_out]` and, if it has them, biases.
    fn linear(&mut self, name: &str, shape: [usize; 2], part: MatrixKind, has_bias: bool) {
        self.matrix(&format!("{name}.weight"), shape, part);
        if has_bias {
            self.bias(&format!("{name}.bias"), shape, part);
        }
    }

    fn norm(&mut self, name: &str, size: usize) {
        if self.gain {
            self.push(
                &format!("{name}.gamma"),
                &[size],
                Initializer::Constant(1.0),
            );
        }
        if self.shift {
            self.push(&format!("{name}.beta"), &[size], Initializer::Constant(0.0));
        }
    }
}
