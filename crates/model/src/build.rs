//! Builds a model from its config and its parameters.

use std::vec::IntoIter;

use burn::module::Param;
use burn::nn::{LayerNorm, LayerNormConfig, Linear};
use burn::tensor::{Device, Tensor, TensorData};
use headlight_architecture::{Inputs, ModelConfig, Parameter, ParameterMismatch, ProjectionKind};

use crate::{
    Attention, FeedForward, Projections, SeparateProjections, SharedProjection,
    TokenPositionEmbedding, TransformerBlock, TransformerClassifier,
};

impl TransformerClassifier {
    /// Builds a model on `device` from parameters in any order.
    ///
    /// # Errors
    /// When the parameters do not match the config's layout, or hold NaN or infinity. Lists each difference.
    ///
    /// # Panics
    /// When the config is not [valid](ModelConfig::validate) or does not
    /// [fit the inputs](ModelConfig::validate_for).
    pub fn new(
        config: &ModelConfig,
        inputs: Inputs,
        parameters: impl IntoIterator<Item = Parameter>,
        device: &Device,
    ) -> Result<Self, ParameterMismatch> {
        let arranged = Parameter::arrange(parameters, &config.layout(inputs))?;
        let mut modules = Modules {
            parameters: arranged.into_iter(),
            device,
        };
        Ok(Self {
            embedding: TokenPositionEmbedding {
                token_embedding: modules.next(),
                position_embedding: config.positions.then(|| modules.next()),
            },
            blocks: (0..config.n_layers)
                .map(|_| modules.block(config))
                .collect(),
            classifier: modules.linear(),
            inputs,
            mask: config.attention.mask.clone(),
            padding_token: config.attention.padding_token,
        })
    }
}

/// Distributes parameters, in the model's order, to modules.
struct Modules<'a> {
    parameters: IntoIter<Parameter>,
    device: &'a Device,
}

impl Modules<'_> {
    fn next<const D: usize>(&mut self) -> Param<Tensor<D>> {
        let data = self.parameters.next().map_or_else(
            || unreachable!("the layout has a parameter for every module"),
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
