//! The architecture of a model: its sizes and switches, its parameters by name and shape, its initial
//! weights, and which keys its queries may look at.
//!
//! Nothing here computes a forward pass: `headlight-fused` and `headlight-model` do, both from the same
//! [`ModelConfig`] and the same [`Parameter`]s.
//!
//! ```
//! use headlight_architecture::{Inputs, ModelConfig};
//! use headlight_data::Stream;
//!
//! let notebook = ModelConfig::new(8, 1, 1);
//! let inputs = Inputs { vocab_size: 51, positions: 7, cls: Some(0), read_position: 0, n_classes: 2, per_position: false };
//! let parameters = notebook.initial_parameters(inputs, &mut Stream::Weights.rng(0));
//! assert_eq!(parameters[0].name, "token_embedding");
//! assert_eq!(parameters.iter().map(|parameter| parameter.values.len()).sum::<usize>(), 777);
//! ```

mod config;
mod dropout;
mod init;
mod keys;
mod layout;
mod mask;
pub mod mathematics;
mod parameter;
mod pooling;
mod positions;
mod scale;
mod summary;
mod validate;

pub use config::{
    Activation, AttentionConfig, Inputs, Logits, ModelConfig, NormKind, NormPlace, ProjectionKind,
    Readout, Weighting,
};
pub use dropout::{DropoutPlace, DropoutRates};
pub use headlight_schema::InvalidValue;
pub use init::{InitConfig, Initializer, Scheme, Std, StdConfig};
pub use keys::{
    HeadStrength, Keys, ReadoutAttention, StrongestHead, UNIFORM_BELOW, is_uniform, strongest_head,
};
pub use layout::ParameterSpec;
pub use mask::Mask;
pub use parameter::Parameter;
pub use pooling::Pooling;
pub use positions::Positions;
pub use scale::Scale;
pub use summary::Layer;
