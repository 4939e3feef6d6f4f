//! Initial weights, drawn on the host in the order in which the parameters are listed.
//!
//! As Keras does by default: embeddings uniform in (-0.05, 0.05), weight matrices Glorot uniform
//! in `±sqrt(6 / (fan_in + fan_out))` (Glorot and Bengio 2010), biases 0, gamma 1, beta 0.

use std::vec::IntoIter;

use burn::module::Param;
use burn::nn::{LayerNorm, LayerNormConfig, Linear};
use burn::tensor::{Device, Tensor, TensorData};
use rand_chacha::rand_core::Rng;

use crate::{
    Attention, FeedForward, Inputs, ModelConfig, Parameter, ProjectionKind, Projections,
    SeparateProjections, SharedProjection, TokenPositionEmbedding, TransformerBlock,
    TransformerClassifier,
};

const EMBEDDING_LIMIT: f32 = 0.05;

impl ModelConfig {
    /// Builds the model on `device` with fresh weights from `rng`.
    ///
    /// # Panics
    /// When the config is not [valid](Self::validate) or does not
    /// [fit the inputs](Self::validate_for).
    pub fn init(
        &self,
        inputs: Inputs,
        rng: &mut impl Rng,
        device: &Device,
    ) -> TransformerClassifier {
        let mut drawn = Drawn {
            parameters: self.initial_parameters(inputs, rng).into_iter(),
            device,
        };
        TransformerClassifier {
            embedding: TokenPositionEmbedding {
                token_embedding: drawn.next(),
                position_embedding: self.positions.then(|| drawn.next()),
            },
            blocks: (0..self.n_layers).map(|_| drawn.block(self)).collect(),
            classifier: drawn.linear(),
            inputs,
            mask: self.attention.mask.clone(),
            padding_token: self.attention.padding_token,
        }
    }

    /// Fresh weights from `rng`, on the host, in the model's order.
    pub fn initial_parameters(&self, inputs: Inputs, rng: &mut impl Rng) -> Vec<Parameter> {
        let (d_model, heads) = (self.d_model, self.n_heads * self.d_head());
        let mut list = List {
            parameters: Vec::new(),
            rng,
        };
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
        list.linear("classifier", d_model, 1);
        list.parameters
    }
}

impl ProjectionKind {
    /// What the projections are called.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Separate => &["query", "key", "value"],
            Self::Shared => &["shared"],
            Self::None => &[],
        }
    }
}

/// Parameters as they are drawn.
struct List<'a, R> {
    parameters: Vec<Parameter>,
    rng: &'a mut R,
}

impl<R: Rng> List<'_, R> {
    fn embedding(&mut self, name: &str, shape: [usize; 2]) {
        self.uniform(name.to_owned(), shape, EMBEDDING_LIMIT);
    }

    /// A projection with Glorot-uniform weights `[fan_in, fan_out]` and zero biases.
    fn linear(&mut self, name: &str, fan_in: usize, fan_out: usize) {
        let limit = (6.0 / (fan_in + fan_out) as f64).sqrt() as f32;
        self.uniform(format!("{name}.weight"), [fan_in, fan_out], limit);
        self.constant(format!("{name}.bias"), fan_out, 0.0);
    }

    fn norm(&mut self, name: &str, size: usize) {
        self.constant(format!("{name}.gamma"), size, 1.0);
        self.constant(format!("{name}.beta"), size, 0.0);
    }

    /// A matrix uniform in `[-limit, limit)`, from the upper 24 bits of a word an element.
    fn uniform(&mut self, name: String, shape: [usize; 2], limit: f32) {
        let element = |_| {
            let unit = (self.rng.next_u32() >> 8) as f32 / (1_u32 << 24) as f32;
            (2.0 * unit - 1.0) * limit
        };
        self.parameters.push(Parameter {
            name,
            shape: shape.to_vec(),
            values: (0..shape[0] * shape[1]).map(element).collect(),
        });
    }

    fn constant(&mut self, name: String, size: usize, value: f32) {
        self.parameters.push(Parameter {
            name,
            shape: vec![size],
            values: vec![value; size],
        });
    }
}

/// Drawn parameters on their way into modules, which take them in the same order.
struct Drawn<'a> {
    parameters: IntoIter<Parameter>,
    device: &'a Device,
}

impl Drawn<'_> {
    fn next<const D: usize>(&mut self) -> Param<Tensor<D>> {
        let data = self.parameters.next().map_or_else(
            || unreachable!("as many parameters as modules take"),
            |parameter| TensorData::new(parameter.values, parameter.shape),
        );
        Param::from_tensor(Tensor::from_data(data, self.device))
    }

    fn linear(&mut self) -> Linear {
        Linear {
            weight: self.next(),
            bias: Some(self.next()),
        }
    }

    fn block(&mut self, config: &ModelConfig) -> TransformerBlock {
        TransformerBlock {
            attention: self.attention(config),
            norm: self.norm(config),
            feed_forward: (config.d_ff > 0).then(|| FeedForward {
                hidden: self.linear(),
                output: self.linear(),
                norm: self.norm(config),
            }),
        }
    }

    fn attention(&mut self, config: &ModelConfig) -> Attention {
        let projections = match config.attention.projections {
            ProjectionKind::Separate => Some(Projections::Separate(SeparateProjections {
                query: self.linear(),
                key: self.linear(),
                value: self.linear(),
            })),
            ProjectionKind::Shared => Some(Projections::Shared(SharedProjection {
                shared: self.linear(),
            })),
            ProjectionKind::None => None,
        };
        Attention {
            projections,
            output: self.linear(),
            n_heads: config.n_heads,
            factor: config.attention.factor(config.d_head()),
        }
    }

    fn norm(&mut self, config: &ModelConfig) -> LayerNorm {
        let mut norm = LayerNormConfig::new(config.d_model)
            .with_epsilon(config.layer_norm_eps)
            .init(self.device);
        norm.gamma = self.next();
        norm.beta = Some(self.next());
        norm
    }
}
