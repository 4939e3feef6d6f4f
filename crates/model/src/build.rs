//! Builds a model from its config and its parameters.

use std::vec::IntoIter;

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use headlight_architecture::{
    Inputs, ModelConfig, NormPlace, Parameter, Positions, ProjectionKind,
};

use crate::{
    Attention, Classifier, FeedForward, LayerNorms, Norm, Projections, Rotary, SeparateProjections,
    SharedProjection, TokenPositionEmbedding, TransformerBlock, TransformerClassifier,
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
    ) -> Result<Self, String> {
        let arranged = Parameter::arrange(parameters, &config.layout(inputs))?;
        let mut modules = Modules {
            config,
            positions: inputs.positions,
            parameters: arranged.into_iter(),
            device,
        };
        Ok(Self {
            embedding: modules.embedding(),
            embedding_norm: config.embedding_norm.then(|| modules.norm()),
            blocks: (0..config.n_layers).map(|_| modules.block()).collect(),
            final_norm: config.has_final_norm().then(|| modules.norm()),
            classifier: modules.classifier(),
            inputs,
            mask: config.attention.mask.clone(),
            padding_token: config.attention.padding_token,
            readout: config.readout(inputs),
        })
    }
}

/// Distributes parameters, in the model's order, to modules.
struct Modules<'a> {
    config: &'a ModelConfig,
    positions: usize,
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

    fn linear(&mut self, has_bias: bool) -> Linear {
        Linear {
            weight: self.next(),
            bias: has_bias.then(|| self.next()),
        }
    }

    /// A table of numbers that are not learned.
    fn table(&self, values: Vec<f32>, width: usize) -> Tensor<2> {
        let data = TensorData::new(values, [self.positions, width]);
        Tensor::from_data(data, self.device)
    }

    fn embedding(&mut self) -> TokenPositionEmbedding {
        let config = self.config;
        let is_learned = config.positions == Positions::Learned;
        let fixed = config.positions.table(self.positions, config.d_model);
        TokenPositionEmbedding {
            token_embedding: self.next(),
            position_embedding: is_learned.then(|| self.next()),
            shared_from: config.positions_shared_from,
            fixed_positions: fixed.map(|values| self.table(values, config.d_model)),
        }
    }

    fn block(&mut self) -> TransformerBlock {
        TransformerBlock {
            attention: self.attention(),
            norm: self.norms(),
            feed_forward: (self.config.d_ff > 0).then(|| self.feed_forward()),
        }
    }

    fn attention(&mut self) -> Attention {
        let (config, d_head) = (&self.config.attention, self.config.d_head());
        let projections = match config.projections {
            ProjectionKind::Separate => Some(Projections::Separate(SeparateProjections {
                query: self.linear(config.bias),
                key: self.linear(config.bias),
                value: config.value_projection.then(|| self.linear(config.bias)),
            })),
            ProjectionKind::Shared => Some(Projections::Shared(SharedProjection {
                shared: self.linear(config.bias),
            })),
            ProjectionKind::None => None,
        };
        let rotation = self.config.positions.rotation(self.positions, d_head);
        Attention {
            projections,
            output: config
                .output_projection
                .then(|| self.linear(config.output_bias)),
            rotary: rotation.map(|tables| {
                let [cos, sin] = tables.map(|values| self.table(values, d_head / 2));
                Rotary { cos, sin }
            }),
            n_heads: self.config.n_heads,
            factor: config.factor(d_head),
            log_length: config.log_length,
            weighting: config.weighting(),
        }
    }

    fn feed_forward(&mut self) -> FeedForward {
        FeedForward {
            hidden: self.linear(self.config.feed_forward_bias),
            output: self.linear(self.config.feed_forward_bias),
            norm: self.norms(),
            activation: self.config.activation,
        }
    }

    fn norms(&mut self) -> LayerNorms {
        let place = self.config.norm;
        LayerNorms {
            pre: (place == NormPlace::Pre).then(|| self.norm()),
            post: (place == NormPlace::Post).then(|| self.norm()),
        }
    }

    fn norm(&mut self) -> Norm {
        Norm {
            gamma: self.config.norm_gain.then(|| self.next()),
            beta: self.config.has_norm_bias().then(|| self.next()),
            kind: self.config.norm_kind,
            epsilon: self.config.layer_norm_eps,
        }
    }

    fn classifier(&mut self) -> Classifier {
        let config = self.config;
        Classifier {
            hidden: (config.classifier_hidden > 0).then(|| self.linear(config.classifier_bias)),
            weight: (!config.tied_embeddings).then(|| self.next()),
            bias: config.classifier_bias.then(|| self.next()),
            activation: config.activation,
        }
    }
}
