//! `model.safetensors`.

use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::Frozen;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, serialize};
use serde_json::json;

use crate::message::{Answer, Message};

/// The bytes of `model.safetensors`, as numbers: the format pads its head to a multiple of eight bytes.
///
/// # Errors
/// When the weights do not suit the config.
pub(crate) fn save(config: &ExperimentConfig, weights: &[f32]) -> Answer {
    Frozen::new(config)?.check(weights)?;
    let bytes = safetensors(config, weights)?;
    let (numbers, _) = bytes.as_chunks();
    let floats = numbers.iter().copied().map(f32::from_le_bytes);
    let head = json!({ "bytes": bytes.len() });
    Ok(Message::of(&head, floats.collect()))
}

/// The bytes of `model.safetensors`.
///
/// # Errors
/// When they cannot be written.
pub(crate) fn safetensors(
    config: &ExperimentConfig,
    weights: &[f32],
) -> Result<Vec<u8>, SafeTensorError> {
    let bytes: Vec<u8> = weights
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let mut rest = &bytes[..];
    let mut tensors = Vec::new();
    for own in config.model.layout(config.inputs()) {
        let (values, others) = rest.split_at(4 * own.size());
        rest = others;
        tensors.push((own.name, TensorView::new(Dtype::F32, own.shape, values)?));
    }
    serialize(tensors, None)
}
