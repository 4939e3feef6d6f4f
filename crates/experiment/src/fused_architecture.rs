//! A config's model as `headlight-fused` describes models.

use headlight_architecture::{
    Activation, Logits, ModelConfig, NormKind, NormPlace, Pooling, Positions, ProjectionKind, Scale,
};
use headlight_fused::{
    self as fused, Architecture, Biases, Norms, PositionEmbedding, Projections, Reads, Weighting,
};

use crate::config::ExperimentConfig;
use crate::error::Error;

/// The architecture of a config's model.
pub(crate) fn architecture(config: &ExperimentConfig) -> Result<Architecture, Error> {
    let (model, attention) = (&config.model, &config.model.attention);
    let inputs = config.inputs();
    let mask = attention.mask.matrix(inputs.positions, inputs.positions);
    // The engine's own factor is rounded once, from float32 as in Keras.
    let has_own_scale = (attention.scale, attention.temperature) != (Scale::Root, 1.0);
    Ok(Architecture {
        vocab_size: inputs.vocab_size,
        positions: inputs.positions,
        read_position: inputs.read_position,
        reads: match model.pooling {
            _ if inputs.per_position => Reads::Every,
            Some(Pooling::Mean) => Reads::Mean,
            _ => Reads::Position,
        },
        starts_with_cls: inputs.cls == Some(0),
        d_model: model.d_model,
        n_heads: model.n_heads,
        d_head: model.d_head,
        n_layers: model.n_layers,
        d_ff: model.d_ff,
        n_classes: inputs.n_classes,
        logit_per_class: model.logits == Logits::PerClass,
        position_embedding: position_embedding(model, inputs.positions),
        rotation: model.positions.rotation(inputs.positions, model.d_head()),
        projections: match attention.projections {
            ProjectionKind::Separate => Projections::Separate,
            ProjectionKind::Shared => Projections::Shared,
            ProjectionKind::None => Projections::None,
        },
        value_projection: attention.value_projection,
        output_projection: attention.output_projection,
        scale: has_own_scale.then(|| attention.factor(model.d_head()) as f32),
        log_length: attention.log_length,
        weighting: match attention.rate {
            _ if !attention.softmax => Weighting::Scores,
            rate if rate < 1.0 => Weighting::Mixed(rate as f32),
            _ => Weighting::Softmax,
        },
        biases: Biases {
            attention: attention.bias,
            output: attention.output_bias,
            feed_forward: model.feed_forward_bias,
            classifier: model.classifier_bias,
        },
        norms: Norms {
            place: match model.norm {
                NormPlace::Post => fused::NormPlace::Post,
                NormPlace::Pre => fused::NormPlace::Pre,
                NormPlace::None => fused::NormPlace::None,
            },
            is_rms: model.norm_kind == NormKind::Rms,
            gain: model.norm_gain,
            bias: model.has_norm_bias(),
            is_last: model.has_final_norm(),
            is_first: model.embedding_norm,
            eps: model.layer_norm_eps as f32,
        },
        activation: match model.activation {
            Activation::Relu => fused::Activation::Relu,
            Activation::Gelu => fused::Activation::Gelu,
            Activation::GeluTanh => fused::Activation::GeluTanh,
            Activation::Silu => fused::Activation::Silu,
        },
        classifier_hidden: model.classifier_hidden,
        tied_embeddings: model.tied_embeddings,
        mask: mask.map_err(Error::Input)?,
        padding_token: attention.padding_token,
    })
}

fn position_embedding(model: &ModelConfig, positions: usize) -> PositionEmbedding {
    if let Some(table) = model.positions.table(positions, model.d_model) {
        return PositionEmbedding::Fixed(table);
    }
    match model.positions {
        Positions::Learned if model.positions_shared_from.is_some() => {
            PositionEmbedding::Shared(model.position_rows(positions))
        }
        Positions::Learned => PositionEmbedding::Learned,
        _ => PositionEmbedding::None,
    }
}

/// How many of some threads make the steps of a config's training faster.
///
/// # Errors
/// When the model is invalid.
pub fn threads_that_pay(config: &ExperimentConfig, threads: usize) -> Result<usize, Error> {
    Ok(architecture(config)?.threads_that_pay(config.training.batch_size, threads))
}

/// Whether threads can share a step of such a model, if its batch is large enough. Those of the notebook's kind of model are too short.
///
/// # Errors
/// When the config is invalid.
pub fn shares_steps(config: &ExperimentConfig) -> Result<bool, Error> {
    /// Samples that are enough for any other model.
    const MANY: usize = 1 << 20;
    Ok(architecture(config)?.threads_that_pay(MANY, 2) > 1)
}
