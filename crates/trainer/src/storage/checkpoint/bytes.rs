//! A checkpoint as a file: a line with a checksum, then safetensors.
//!
//! The tensors are the parameters by name, `adam.first` and `adam.second` over all of them, the best
//! model as `best.NAME`. The counters are JSON in the safetensors' metadata.

use std::collections::HashMap;

use headlight_architecture::Parameter;
use headlight_experiment::TrainingState;
use headlight_experiment::best::BestModel;
use headlight_experiment::train::{Mean, Progress};
use safetensors::tensor::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::snapshot::Checkpoint;
use crate::Failure;
use crate::storage::files::Mark;
use crate::storage::weights::{OwnedTensor, float32, tensors};

/// The first bytes of a checkpoint, before its checksum; the number is the version of the format.
const MAGIC: &str = "headlight checkpoint 2 ";

/// The key of the counters in the metadata.
const COUNTERS: &str = "headlight";

const FIRST: &str = "adam.first";
const SECOND: &str = "adam.second";
const BEST: &str = "best.";

/// All of a checkpoint but its tensors.
#[derive(Debug, Serialize, Deserialize)]
struct Counters {
    epoch: usize,
    step: usize,
    at_epoch_end: bool,
    loss: Option<f64>,
    epoch_losses: Mean,
    adam_steps: u32,
    /// In the model's order, which a safetensors file does not keep.
    parameters: Vec<String>,
    metrics: Mark,
    losses: Mark,
    best: Option<BestCounters>,
    config: Value,
    inputs_sha256: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct BestCounters {
    value: f64,
    step: usize,
    waited: usize,
}

impl Checkpoint {
    /// The bytes of a checkpoint's file; the same checkpoint gives the same bytes.
    ///
    /// # Errors
    /// When the number of a parameter's values does not match its shape.
    pub fn encode(&self) -> Result<Vec<u8>, Failure> {
        let counters = Counters {
            epoch: self.progress.epoch,
            step: self.progress.step,
            at_epoch_end: self.progress.at_epoch_end,
            loss: self.progress.loss,
            epoch_losses: self.progress.losses,
            adam_steps: self.state.steps,
            parameters: names(&self.state.parameters),
            metrics: self.metrics.clone(),
            losses: self.losses.clone(),
            best: self.best.as_ref().map(|best| BestCounters {
                value: best.value,
                step: best.step,
                waited: best.waited,
            }),
            config: self.config.clone(),
            inputs_sha256: self.inputs_sha256.clone(),
        };
        let failed =
            |error: String| Failure::System(format!("the checkpoint cannot be written: {error}"));
        let counters =
            serde_json::to_string(&counters).map_err(|error| failed(error.to_string()))?;
        let body = safetensors::serialize(
            self.tensors(),
            Some(HashMap::from([(COUNTERS.to_owned(), counters)])),
        )
        .map_err(|error| failed(error.to_string()))?;
        Ok(seal(&body))
    }

    fn tensors(&self) -> Vec<(String, OwnedTensor)> {
        let named = |prefix: &str, parameter: &Parameter| {
            let tensor = OwnedTensor::float32(parameter.shape.clone(), &parameter.values);
            (format!("{prefix}{}", parameter.name), tensor)
        };
        let flat = |values: &[f32]| OwnedTensor::float32(vec![values.len()], values);
        let best = self.best.iter().flat_map(|best| &best.parameters);
        let parameters = self.state.parameters.iter();
        parameters
            .map(|parameter| named("", parameter))
            .chain(best.map(|parameter| named(BEST, parameter)))
            .chain([
                (FIRST.to_owned(), flat(&self.state.first)),
                (SECOND.to_owned(), flat(&self.state.second)),
            ])
            .collect()
    }

    /// Reads a checkpoint's bytes.
    ///
    /// # Errors
    /// When they are not a whole checkpoint of this version; the message gives the reason.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let end = MAGIC.len() + 2 * Sha256::output_size();
        let (Some(head), Some(b'\n')) = (bytes.get(..end), bytes.get(end)) else {
            return Err("it was cut short, or it is not a checkpoint".to_owned());
        };
        let Some(checksum) = head.strip_prefix(MAGIC.as_bytes()) else {
            return Err(
                "it is not a checkpoint, or it is from another version of headlight".to_owned(),
            );
        };
        let body = &bytes[end + 1..];
        if format!("{:x}", Sha256::digest(body)).as_bytes() != checksum {
            return Err("it is damaged: its checksum is wrong".to_owned());
        }
        parse(body).map_err(|reason| format!("it is not a checkpoint: {reason}"))
    }
}

/// Puts the checksum of bytes before them.
pub fn seal(body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{MAGIC}{:x}\n", Sha256::digest(body)).into_bytes();
    bytes.extend(body);
    bytes
}

/// Reads the bytes after the checksum.
fn parse(body: &[u8]) -> Result<Checkpoint, String> {
    let message = |error: &dyn std::fmt::Display| error.to_string();
    let tensors = tensors(body)?;
    let (_, header) = SafeTensors::read_metadata(body).map_err(|error| message(&error))?;
    let counters = header.metadata().as_ref().and_then(|map| map.get(COUNTERS));
    let counters = counters.ok_or("it holds no counters")?;
    let counters: Counters = serde_json::from_str(counters).map_err(|error| message(&error))?;
    let tensor = |name: &str| {
        let tensor = tensors.tensor(name).map_err(|error| message(&error))?;
        if tensor.dtype() == Dtype::F32 {
            Ok(tensor)
        } else {
            Err(format!("`{name}` is {:?}", tensor.dtype()))
        }
    };
    let parameters = |prefix: &str| {
        let of = |name: &String| {
            let tensor = tensor(&format!("{prefix}{name}"))?;
            Ok(Parameter {
                name: name.clone(),
                shape: tensor.shape().to_vec(),
                values: float32(tensor.data()),
            })
        };
        let names = counters.parameters.iter();
        names.map(of).collect::<Result<Vec<Parameter>, String>>()
    };
    let flat = |name: &str| Ok::<_, String>(float32(tensor(name)?.data()));
    let best = match &counters.best {
        None => None,
        Some(best) => Some(BestModel {
            value: best.value,
            step: best.step,
            waited: best.waited,
            parameters: parameters(BEST)?,
        }),
    };
    Ok(Checkpoint {
        progress: Progress {
            epoch: counters.epoch,
            step: counters.step,
            at_epoch_end: counters.at_epoch_end,
            loss: counters.loss,
            losses: counters.epoch_losses,
        },
        state: TrainingState {
            parameters: parameters("")?,
            first: flat(FIRST)?,
            second: flat(SECOND)?,
            steps: counters.adam_steps,
        },
        metrics: counters.metrics,
        losses: counters.losses,
        best,
        config: counters.config,
        inputs_sha256: counters.inputs_sha256,
    })
}

fn names(parameters: &[Parameter]) -> Vec<String> {
    let names = parameters.iter().map(|parameter| parameter.name.clone());
    names.collect()
}
