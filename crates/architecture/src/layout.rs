//! The parameters of a model, in the model's order: name, shape and initial values of each.
//!
//! A name is a path in the model (`blocks.0.attention.query.weight`); matrices are `[in, out]`, as in
//! Keras. Initial values are Keras's defaults: embeddings uniform in (-0.05, 0.05), weight matrices Glorot
//! uniform in `±sqrt(6 / (fan_in + fan_out))` (Glorot and Bengio 2010), biases 0, gamma 1, beta 0.

use rand::Rng;

use crate::{Inputs, ModelConfig, Parameter, ProjectionKind};

const EMBEDDING_LIMIT: f32 = 0.05;

/// A parameter without its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Its path in the model.
    pub name: String,
    /// Extent of each axis.
    pub shape: Vec<usize>,
    /// Its initial values.
    pub initial: Initial,
}

/// The initial values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Initial {
    /// Drawn uniformly from `[-limit, limit)`.
    Uniform(f32),
    /// The same number everywhere.
    Constant(f32),
}

impl ModelConfig {
    /// All parameters of a model with such inputs, in the model's order.
    pub fn layout(&self, inputs: Inputs) -> Vec<Layout> {
        let (d_model, heads) = (self.d_model, self.n_heads * self.d_head());
        let mut list = List(Vec::new());
        list.embedding("token_embedding", [inputs.vocab_size, d_model]);
        if self.positions {
            list.embedding("position_embedding", [inputs.positions, d_model]);
        }
        for layer in 0..self.n_layers {
            let block = format!("blocks.{layer}");
            for projection in self.attention.projections.names() {
                list.linear(&format!("{block}.attention.{projection}"), d_model, heads);
            }
            list.linear(&format!("{block}.attention.output"), heads, d_model);
            list.norm(&format!("{block}.norm"), d_model);
            if self.d_ff > 0 {
                list.linear(&format!("{block}.feed_forward.hidden"), d_model, self.d_ff);
                list.linear(&format!("{block}.feed_forward.output"), self.d_ff, d_model);
                list.norm(&format!("{block}.feed_forward.norm"), d_model);
            }
        }
        list.linear("classifier", d_model, inputs.n_logits());
        list.0
    }

    /// Initial weights from `rng`, drawn in the model's order.
    pub fn initial_parameters(&self, inputs: Inputs, rng: &mut impl Rng) -> Vec<Parameter> {
        let draw = |layout: Layout| {
            let count = layout.size();
            let values = match layout.initial {
                Initial::Uniform(limit) => (0..count).map(|_| uniform(rng, limit)).collect(),
                Initial::Constant(value) => vec![value; count],
            };
            Parameter {
                name: layout.name,
                shape: layout.shape,
                values,
            }
        };
        self.layout(inputs).into_iter().map(draw).collect()
    }
}

impl Layout {
    /// How many numbers the parameter has.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }
}

/// A number from `[-limit, limit)`, from the upper 24 bits of a word.
fn uniform(rng: &mut impl Rng, limit: f32) -> f32 {
    let unit = (rng.next_u32() >> 8) as f32 / (1_u32 << 24) as f32;
    (2.0 * unit - 1.0) * limit
}

impl ProjectionKind {
    /// The names of the projections that queries, keys and values come from.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Separate => &["query", "key", "value"],
            Self::Shared => &["shared"],
            Self::None => &[],
        }
    }
}

/// Builds the list of parameters.
struct List(Vec<Layout>);

impl List {
    fn push(&mut self, name: String, shape: &[usize], initial: Initial) {
        let shape = shape.to_vec();
        self.0.push(Layout {
            name,
            shape,
            initial,
        });
    }

    fn embedding(&mut self, name: &str, shape: [usize; 2]) {
        self.push(name.to_owned(), &shape, Initial::Uniform(EMBEDDING_LIMIT));
    }

    /// A projection with weights `[fan_in, fan_out]` and biases.
    fn linear(&mut self, name: &str, fan_in: usize, fan_out: usize) {
        let limit = (6.0 / (fan_in + fan_out) as f64).sqrt() as f32;
        let glorot = Initial::Uniform(limit);
        self.push(format!("{name}.weight"), &[fan_in, fan_out], glorot);
        self.push(format!("{name}.bias"), &[fan_out], Initial::Constant(0.0));
    }

    fn norm(&mut self, name: &str, size: usize) {
        self.push(format!("{name}.gamma"), &[size], Initial::Constant(1.0));
        self.push(format!("{name}.beta"), &[size], Initial::Constant(0.0));
    }
}
