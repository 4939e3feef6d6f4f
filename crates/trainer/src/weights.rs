//! A model's weights as safetensors: float32, `[in, out]`, names as in `headlight-model`.

use std::path::Path;

use headlight_model::{Parameter, TransformerClassifier};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::Failure;
use crate::files::{read_bounded, write_whole};

/// The largest file that is read whatever the model, in bytes; a larger model's may be as large as its
/// weights. So weights of another model are told apart by name, and what is no model's is not read.
pub const FREE_LIMIT: u64 = 64 << 20;

/// The longest header of a safetensors file, in bytes: 100 times that of the deepest model.
///
/// The format allows 100 MB, which parsed can take a gigabyte.
pub const HEADER_LIMIT: u64 = 1 << 20;

/// Writes a model's weights; the same weights give the same bytes.
///
/// # Errors
/// When the file cannot be written.
pub fn save(model: &TransformerClassifier, path: &Path) -> Result<(), Failure> {
    let bytes = encode(model.parameters())?;
    write_whole(path, |file| std::io::Write::write_all(file, &bytes))
}

/// Puts the weights of a file into a model.
///
/// # Errors
/// When the file is missing, damaged, or not of this model: lists each difference.
pub fn load(model: TransformerClassifier, path: &Path) -> Result<TransformerClassifier, Failure> {
    let limit = FREE_LIMIT.max(model.parameter_count() as u64 * 4 + HEADER_LIMIT);
    let parameters =
        decode(&read_bounded(path, limit)?).map_err(|reason| Failure::reading(path, reason))?;
    model.with_parameters(parameters).map_err(|mismatch| {
        Failure::reading(
            path,
            format!("its weights are not this model's: {mismatch}"),
        )
    })
}

/// The bytes of a weights file.
///
/// # Errors
/// When parameters are not as long as their shapes say.
pub fn encode(parameters: Vec<Parameter>) -> Result<Vec<u8>, Failure> {
    let parameters: Vec<(String, Vec<usize>, Vec<u8>)> = parameters
        .into_iter()
        .map(
            |Parameter {
                 name,
                 shape,
                 values,
             }| {
                let bytes = values
                    .iter()
                    .flat_map(|value| value.to_le_bytes())
                    .collect();
                (name, shape, bytes)
            },
        )
        .collect();
    let failed = |error| Failure::System(format!("the weights cannot be written: {error}"));
    let views = parameters
        .iter()
        .map(|(name, shape, bytes)| Ok((name, TensorView::new(Dtype::F32, shape.clone(), bytes)?)))
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()
        .map_err(failed)?;
    safetensors::serialize(views, None).map_err(failed)
}

/// The tensors of a safetensors file, its header being checked before it is parsed.
///
/// # Errors
/// When it is none, or its header is too long: says so.
pub fn tensors(bytes: &[u8]) -> Result<SafeTensors<'_>, String> {
    if let Some(length) = bytes.first_chunk::<8>().copied().map(u64::from_le_bytes)
        && length > HEADER_LIMIT
        && length < bytes.len() as u64
    {
        return Err(format!(
            "its header is of {length} bytes; at most {HEADER_LIMIT} are read"
        ));
    }
    SafeTensors::deserialize(bytes)
        .map_err(|error| format!("it is not a safetensors file, or it was cut short ({error})"))
}

/// The float32 tensors of a safetensors file.
///
/// # Errors
/// When it is none, or holds other tensors: says which.
pub fn decode(bytes: &[u8]) -> Result<Vec<Parameter>, String> {
    let tensors = tensors(bytes)?.tensors();
    let other: Vec<String> = tensors
        .iter()
        .filter(|(_, tensor)| tensor.dtype() != Dtype::F32)
        .map(|(name, tensor)| format!("`{name}` is {:?}, not F32", tensor.dtype()))
        .collect();
    if !other.is_empty() {
        return Err(other.join("; "));
    }
    Ok(tensors
        .into_iter()
        .map(|(name, tensor)| Parameter {
            name,
            shape: tensor.shape().to_vec(),
            values: tensor
                .data()
                .chunks_exact(4)
                .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
                .collect(),
        })
        .collect())
}
