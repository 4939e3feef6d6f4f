//! A model's weights as safetensors: float32, `[in, out]`, names as in `headlight-architecture`.

use std::collections::HashMap;
use std::path::Path;

use headlight_architecture::{Parameter, ParameterSpec};
use headlight_experiment::config::ExperimentConfig;
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::Failure;
use crate::files::access::read_bounded;

/// The largest file that is read for a small model, in bytes; for a larger model, the limit is the size of its
/// weights. So weights of a different model are read and reported tensor by tensor, and huge files are not read.
const FREE_LIMIT: u64 = 64 << 20;

/// The longest header of a weights file, in bytes: 400 times that of the deepest model.
///
/// The format allows 100 MB, which can take a gigabyte once parsed.
const HEADER_LIMIT: u64 = 4 << 20;

/// Reads the weights of a config's model from a file, in the model's order.
///
/// # Errors
/// When the file is missing, damaged, or holds a different model; the message lists each difference.
pub fn load(config: &ExperimentConfig, path: &Path) -> Result<Vec<Parameter>, Failure> {
    let layout = config.model.layout(config.inputs());
    let count: usize = layout.iter().map(ParameterSpec::size).sum();
    let limit = FREE_LIMIT.max(count as u64 * 4 + HEADER_LIMIT);
    let given =
        decode(&read_bounded(path, limit)?).map_err(|reason| Failure::reading(path, reason))?;
    Parameter::arrange(given, &layout).map_err(|mismatch| {
        Failure::reading(
            path,
            format!("its weights do not match this model: {mismatch}"),
        )
    })
}

/// The bytes of a weights file; the same weights give the same bytes.
///
/// # Errors
/// When the number of a parameter's values does not match its shape.
pub fn encode(parameters: Vec<Parameter>) -> Result<Vec<u8>, Failure> {
    let tensors = parameters.into_iter();
    let tensors = tensors.map(|parameter| (parameter.name, parameter.shape, parameter.values));
    serialize(tensors, None)
        .map_err(|error| Failure::System(format!("the weights cannot be written: {error}")))
}

/// The bytes of a safetensors file of float32 tensors, each with its name and shape.
pub(crate) fn serialize<V: AsRef<[f32]>>(
    tensors: impl Iterator<Item = (String, Vec<usize>, V)>,
    metadata: Option<HashMap<String, String>>,
) -> Result<Vec<u8>, SafeTensorError> {
    let tensors = tensors.map(|(name, shape, values)| {
        let bytes = values.as_ref().iter().flat_map(|value| value.to_le_bytes());
        (name, shape, bytes.collect::<Vec<u8>>())
    });
    let tensors: Vec<_> = tensors.collect();
    let views = tensors.iter().map(|(name, shape, bytes)| {
        let view = TensorView::new(Dtype::F32, shape.clone(), bytes);
        view.map(|view| (name, view))
    });
    safetensors::serialize(views.collect::<Result<Vec<_>, _>>()?, metadata)
}

/// The numbers of a float32 tensor.
pub(crate) fn float32(bytes: &[u8]) -> Vec<f32> {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers.iter().copied().map(f32::from_le_bytes).collect()
}

/// The tensors of a safetensors file. Checks that its header has at most `limit` bytes before parsing it.
pub(crate) fn tensors(bytes: &[u8], limit: u64) -> Result<SafeTensors<'_>, String> {
    if let Some(length) = bytes.first_chunk::<8>().copied().map(u64::from_le_bytes)
        && length > limit
        && length < bytes.len() as u64
    {
        return Err(format!(
            "its header has {length} bytes; the limit is {limit}"
        ));
    }
    SafeTensors::deserialize(bytes)
        .map_err(|error| format!("it is not a safetensors file, or it was cut short ({error})"))
}

/// The float32 tensors of a safetensors file.
///
/// # Errors
/// When the bytes are not a safetensors file, or hold other tensors; the message lists those.
pub fn decode(bytes: &[u8]) -> Result<Vec<Parameter>, String> {
    let tensors = tensors(bytes, HEADER_LIMIT)?.tensors();
    let unexpected: Vec<String> = tensors
        .iter()
        .filter(|(_, tensor)| tensor.dtype() != Dtype::F32)
        .map(|(name, tensor)| format!("`{name}` is {:?}, not F32", tensor.dtype()))
        .collect();
    if !unexpected.is_empty() {
        return Err(unexpected.join("; "));
    }
    Ok(tensors
        .into_iter()
        .map(|(name, tensor)| Parameter {
            name,
            shape: tensor.shape().to_vec(),
            values: float32(tensor.data()),
        })
        .collect())
}
