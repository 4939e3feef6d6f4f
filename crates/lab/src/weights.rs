//! `model.safetensors`: the length of its head, the head as JSON, and the numbers, little-endian.

use headlight_architecture::Layout;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::Frozen;

use crate::json::{Json, Object};
use crate::message::Message;

/// The bytes of `model.safetensors`, as numbers: the format pads its head to a multiple of eight bytes.
///
/// # Errors
/// When the weights do not suit the config.
pub(crate) fn save(config: &ExperimentConfig, weights: &[f32]) -> Result<Message, String> {
    let frozen = Frozen::new(config).map_err(|error| error.to_string())?;
    frozen.check(weights).map_err(|error| error.to_string())?;
    let bytes = safetensors(config, weights);
    let (numbers, _) = bytes.as_chunks();
    let floats = numbers.iter().copied().map(f32::from_le_bytes);
    let head = Object::default().with("bytes", &bytes.len());
    Ok(Message::of(&head, floats.collect()))
}

/// The bytes of `model.safetensors`, as the crate `safetensors` writes them: tensors come in the order of their names.
pub(crate) fn safetensors(config: &ExperimentConfig, weights: &[f32]) -> Vec<u8> {
    let mut rest = weights;
    let layout = config.model.layout(config.inputs());
    let mut tensors: Vec<(&Layout, &[f32])> = layout
        .iter()
        .map(|own| {
            let (values, others) = rest.split_at(own.size());
            rest = others;
            (own, values)
        })
        .collect();
    tensors.sort_by_key(|(own, _)| &own.name);
    let mut head = Object::default();
    let mut end = 0;
    for (own, values) in &tensors {
        let start = end;
        end += 4 * values.len();
        let tensor = Object::default()
            .with("dtype", &"F32")
            .with("shape", &own.shape)
            .with("data_offsets", &[start, end]);
        head = head.with(&own.name, &tensor);
    }
    let mut text = String::new();
    head.write(&mut text);
    while !text.len().is_multiple_of(8) {
        text.push(' ');
    }
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text.into_bytes());
    let numbers = tensors.iter().flat_map(|(_, values)| *values);
    bytes.extend(numbers.flat_map(|value| value.to_le_bytes()));
    bytes
}
