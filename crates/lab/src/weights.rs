//! `model.safetensors`: the length of its head, the head as JSON, and the numbers, little-endian.

use std::collections::BTreeMap;

use headlight_architecture::ParameterSpec;
use headlight_data::order;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::FrozenModel;
use serde::Serialize;
use serde_json::json;

use crate::message::{Answer, Message};

/// The bytes of `model.safetensors`, as numbers: the format pads its head to a multiple of eight bytes.
pub(crate) fn save(config: &ExperimentConfig, weights: &[f32]) -> Answer {
    FrozenModel::new(config)?.check(weights)?;
    let bytes = safetensors(config, weights)?;
    let (numbers, _) = bytes.as_chunks();
    let floats = numbers.iter().copied().map(f32::from_le_bytes);
    let head = json!({ "bytes": bytes.len() });
    Ok(Message::of(&head, floats.collect()))
}

/// What the head says of a tensor.
#[derive(Serialize)]
struct Tensor<'a> {
    dtype: &'a str,
    shape: &'a [usize],
    data_offsets: [usize; 2],
}

/// The bytes of `model.safetensors`, as the crate `safetensors` writes them: tensors come in the order of their names.
pub(crate) fn safetensors(config: &ExperimentConfig, weights: &[f32]) -> Answer<Vec<u8>> {
    let mut rest = weights;
    let layout = config.model.layout(config.inputs());
    let all: Vec<(&ParameterSpec, &[f32])> = layout
        .iter()
        .map(|parameter| {
            let (values, others) = rest.split_at(parameter.size());
            rest = others;
            (parameter, values)
        })
        .collect();
    let name = |tensor: usize| &all[tensor].0.name;
    let by_name = order(all.len(), &|one, other| name(one).cmp(name(other)));
    let tensors: Vec<_> = by_name.into_iter().map(|tensor| all[tensor]).collect();
    let mut head = BTreeMap::new();
    let mut end = 0;
    for (parameter, values) in &tensors {
        let start = end;
        end += 4 * values.len();
        let tensor = Tensor {
            dtype: "F32",
            shape: &parameter.shape,
            data_offsets: [start, end],
        };
        head.insert(&parameter.name, tensor);
    }
    let mut text = serde_json::to_string(&head)?;
    while !text.len().is_multiple_of(8) {
        text.push(' ');
    }
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text.into_bytes());
    let numbers = tensors.iter().flat_map(|(_, values)| *values);
    bytes.extend(numbers.flat_map(|value| value.to_le_bytes()));
    Ok(bytes)
}
