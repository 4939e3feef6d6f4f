//! A checkpoint: all that a run is resumed from, as a safetensors file.
//!
//! The tensors are the parameters by name, `adam.first` and `adam.second` over all of them, the best
//! model as `best.NAME`. The counters are JSON in the safetensors' metadata.

use std::collections::HashMap;

use headlight_architecture::Parameter;
use headlight_experiment::TrainingState;
use headlight_experiment::best::{BestModel, BestTracker};
use headlight_experiment::config::TrainingConfig;
use headlight_experiment::train::Progress;
use headlight_input::TEXT_LIMIT;
use safetensors::tensor::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Failure;
use crate::files::weights::{float32, serialize, tensors};

/// The key of the counters in the metadata.
const COUNTERS: &str = "headlight";

const FIRST: &str = "adam.first";
const SECOND: &str = "adam.second";
const BEST: &str = "best.";

/// The longest header of a checkpoint, in bytes: it holds the config as JSON within JSON, where escapes lengthen the text.
const HEADER_LIMIT: u64 = 4 * TEXT_LIMIT;

/// The state of a run after a step. With the run's config, it determines every later step.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The counts of steps and files, with the config and the inputs that they belong to.
    pub counters: Counters,
    /// The parameters, and the state of the optimizer.
    pub state: TrainingState,
    /// The best model so far, if the config keeps one.
    pub best: Option<BestModel>,
}

/// What counts steps and files in a checkpoint, and the config and the inputs that they belong to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// The progress of training.
    pub progress: Progress,
    /// The bytes of `metrics.jsonl` then.
    pub metrics_bytes: u64,
    /// The config of these steps.
    pub config: Value,
    /// The hash from `inputs_sha256`.
    pub inputs_sha256: String,
}

/// The counters with those of the tensors.
#[derive(Debug, Serialize, Deserialize)]
struct Metadata {
    #[serde(flatten)]
    counters: Counters,
    adam_steps: u32,
    /// In the model's order, which a safetensors file does not keep.
    parameters: Vec<String>,
    /// The value, the step and the evaluations since.
    best: Option<(f64, usize, usize)>,
}

impl Checkpoint {
    /// Whether no step of this training is left after it, or its patience has run out.
    pub(crate) fn is_at_end(&self, training: &TrainingConfig) -> bool {
        let progress = self.counters.progress;
        let stopped = BestTracker::new(training).is_some_and(|mut tracker| {
            tracker.best.clone_from(&self.best);
            tracker.is_out_of_patience()
        });
        stopped || Some(progress.step) == training.steps || Some(progress.epoch) == training.epochs
    }

    /// The bytes of a checkpoint's file; the same checkpoint gives the same bytes.
    ///
    /// # Errors
    /// When the number of a parameter's values does not match its shape.
    pub fn encode(&self) -> Result<Vec<u8>, Failure> {
        let parameters = self.state.parameters.iter();
        let metadata = Metadata {
            counters: self.counters.clone(),
            adam_steps: self.state.steps,
            parameters: parameters.map(|parameter| parameter.name.clone()).collect(),
            best: (self.best.as_ref()).map(|best| (best.value, best.step, best.waited)),
        };
        let failed =
            |error: String| Failure::System(format!("the checkpoint cannot be written: {error}"));
        let metadata =
            serde_json::to_string(&metadata).map_err(|error| failed(error.to_string()))?;
        let metadata = HashMap::from([(COUNTERS.to_owned(), metadata)]);
        let best = self.best.iter().flat_map(|best| &best.parameters);
        let moments = [(FIRST, &self.state.first), (SECOND, &self.state.second)];
        let moments =
            moments.map(|(name, values)| (name.to_owned(), vec![values.len()], &values[..]));
        let parameters = self.state.parameters.iter();
        let tensors = parameters.map(|parameter| named("", parameter));
        let tensors = tensors.chain(best.map(|parameter| named(BEST, parameter)));
        let tensors = tensors.chain(moments);
        serialize(tensors, Some(metadata)).map_err(|error| failed(error.to_string()))
    }

    /// Reads a checkpoint's bytes.
    ///
    /// # Errors
    /// When they are not a checkpoint; the message gives the reason.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let message = |error: &dyn std::fmt::Display| error.to_string();
        let tensors = tensors(bytes, HEADER_LIMIT)?;
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| message(&error))?;
        let metadata = header.metadata().as_ref().and_then(|map| map.get(COUNTERS));
        let metadata = metadata.ok_or("it holds no counters")?;
        let metadata: Metadata = serde_json::from_str(metadata).map_err(|error| message(&error))?;
        let tensor = |name: &str| {
            let tensor = tensors.tensor(name).map_err(|error| message(&error))?;
            if tensor.dtype() == Dtype::F32 {
                Ok(tensor)
            } else {
                Err(format!("`{name}` is {:?}", tensor.dtype()))
            }
        };
        let parameters = |prefix: &str| {
            let read = |name: &String| {
                let tensor = tensor(&format!("{prefix}{name}"))?;
                Ok(Parameter {
                    name: name.clone(),
                    shape: tensor.shape().to_vec(),
                    values: float32(tensor.data()),
                })
            };
            let names = metadata.parameters.iter();
            names.map(read).collect::<Result<Vec<Parameter>, String>>()
        };
        let flat = |name: &str| Ok::<_, String>(float32(tensor(name)?.data()));
        let best = match metadata.best {
            None => None,
            Some((value, step, waited)) => Some(BestModel {
                value,
                step,
                waited,
                parameters: parameters(BEST)?,
            }),
        };
        Ok(Self {
            state: TrainingState {
                parameters: parameters("")?,
                first: flat(FIRST)?,
                second: flat(SECOND)?,
                steps: metadata.adam_steps,
            },
            best,
            counters: metadata.counters,
        })
    }
}

/// A parameter as a tensor, whose name has a prefix.
fn named<'a>(prefix: &str, parameter: &'a Parameter) -> (String, Vec<usize>, &'a [f32]) {
    let name = format!("{prefix}{}", parameter.name);
    (name, parameter.shape.clone(), &parameter.values)
}
