//! `model.safetensors`.

use headlight_architecture::Parameter;
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, TensorView};

use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::Frozen;

use crate::message::Message;

/// The bytes of `model.safetensors`, as numbers: the format pads its head to a multiple of eight bytes.
///
/// # Errors
/// When the weights do not suit the config.
pub(crate) fn save(config: &ExperimentConfig, weights: &[f32]) -> Result<Message, String> {
    let size = Frozen::new(config)
        .map_err(|error| error.to_string())?
        .size();
    if weights.len() != size {
        let count = weights.len();
        return Err(format!(
            "{count} weights were given, and the model has {size}"
        ));
    }
    let mut rest = weights;
    let layout = config.model.layout(config.inputs()).into_iter();
    let parameters = layout.map(|own| {
        let (values, others) = rest.split_at(own.size());
        rest = others;
        Parameter {
            name: own.name,
            shape: own.shape,
            values: values.to_vec(),
        }
    });
    let bytes = safetensors(&parameters.collect::<Vec<_>>())?;
    let (numbers, _) = bytes.as_chunks();
    let floats = numbers.iter().copied().map(f32::from_le_bytes);
    let head = serde_json::json!({ "bytes": bytes.len() });
    Ok(Message::of(&head, floats.collect()))
}

/// The bytes of `model.safetensors`.
///
/// # Errors
/// When a parameter does not have its shape.
pub(crate) fn safetensors(parameters: &[Parameter]) -> Result<Vec<u8>, String> {
    let told = |error: SafeTensorError| error.to_string();
    let bytes: Vec<Vec<u8>> = parameters
        .iter()
        .map(|parameter| {
            let bytes = parameter
                .values
                .iter()
                .flat_map(|value| value.to_le_bytes());
            bytes.collect()
        })
        .collect();
    let tensors: Vec<(&str, TensorView<'_>)> = parameters
        .iter()
        .zip(&bytes)
        .map(|(parameter, bytes)| {
            let shape = parameter.shape.clone();
            let tensor = TensorView::new(Dtype::F32, shape, bytes).map_err(told)?;
            Ok((parameter.name.as_str(), tensor))
        })
        .collect::<Result<_, String>>()?;
    safetensors::serialize(tensors, None).map_err(told)
}
