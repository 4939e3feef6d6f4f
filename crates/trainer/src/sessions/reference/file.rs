//! Reads a reference run from its safetensors file, and checks every tensor.

use std::borrow::Cow;
use std::path::Path;

use headlight_architecture::{Layout, Parameter};
use headlight_data::Dataset;
use headlight_experiment::config::ExperimentConfig;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::run::{Forward, Reference};
use crate::Failure;
use crate::storage::built_in;
use crate::storage::files::read_bounded;
use crate::storage::weights::{FREE_LIMIT, float32, tensors};

impl Reference {
    /// Reads a reference run and checks that it belongs to this experiment.
    ///
    /// # Errors
    /// When the file is missing or damaged; the message lists every tensor that is missing, is unexpected, has
    /// another type or shape, or holds NaN.
    pub fn load(path: &Path, config: &ExperimentConfig, train: &Dataset) -> Result<Self, Failure> {
        let bytes = match built_in::recording(path) {
            Some(bytes) => Cow::Borrowed(bytes),
            None => read_bounded(path, FREE_LIMIT)?.into(),
        };
        Self::decode(&bytes, config, train).map_err(|reason| Failure::reading(path, reason))
    }

    /// As [`load`](Self::load), from bytes.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn decode(
        bytes: &[u8],
        config: &ExperimentConfig,
        train: &Dataset,
    ) -> Result<Self, String> {
        let tensors = tensors(bytes)?;
        let mut reader = Reader::new(&tensors);
        let reference = reader.reference(config, train);
        reader.report_unexpected();
        if reader.differences.is_empty() && !reference.matches_samples_of(train) {
            let difference = "its samples differ from those of [data]";
            reader.differences.push(difference.to_owned());
        }
        if reader.differences.is_empty() {
            return Ok(reference);
        }
        reader.differences.sort();
        let differences = reader.differences.join("; ");
        Err(format!(
            "it is not a reference run of this config: {differences}"
        ))
    }
}

/// Reads the tensors of a file, and collects every difference from the expected ones.
struct Reader<'a> {
    tensors: &'a SafeTensors<'a>,
    taken: Vec<String>,
    differences: Vec<String>,
}

impl<'a> Reader<'a> {
    fn new(tensors: &'a SafeTensors<'a>) -> Self {
        Self {
            tensors,
            taken: Vec::new(),
            differences: Vec::new(),
        }
    }

    /// Adds the tensors that were not read to the differences.
    fn report_unexpected(&mut self) {
        for name in self.tensors.names() {
            if !self.taken.iter().any(|taken| taken == name) {
                self.differences.push(format!("`{name}` is not expected"));
            }
        }
    }

    fn reference(&mut self, config: &ExperimentConfig, train: &Dataset) -> Reference {
        let layout = &config.model.layout(config.inputs());
        let epochs = self.epochs(config, train);
        // An empty tensor can have any extent in its shape.
        let steps = epochs.saturating_mul(train.len().div_ceil(config.training.batch_size));
        let samples = self.integers("samples", None, train.len());
        if samples.is_empty() && self.differences.is_empty() {
            self.differences.push("`samples` is empty".to_owned());
        }
        let order = self.integers("batch_order", Some(&[epochs, train.len()]), train.len());
        let stream = [
            samples.len(),
            config.inputs().positions,
            config.model.d_model,
        ];
        let embeddings = self.floats("initial.embeddings", &stream);
        self.floats("final.embeddings", &stream);
        Reference {
            embeddings,
            initial: self.parameters("initial", layout),
            gradient: self.parameters("gradient", layout),
            trained: self.parameters("final", layout),
            order: order.chunks(train.len()).map(<[u32]>::to_vec).collect(),
            losses: self.floats("losses", &[steps]),
            initial_forward: self.forward("initial", samples.len(), config),
            trained_forward: self.forward("final", samples.len(), config),
            probabilities: self.floats("final.probabilities", &per_logit(train.len(), config)),
            samples,
        }
    }

    /// The number of recorded epochs, which must be at least that of the config.
    fn epochs(&mut self, config: &ExperimentConfig, train: &Dataset) -> usize {
        let wanted = config.training.total_epochs(train.len());
        let recorded = match self.tensors.tensor("batch_order") {
            Ok(order) => order.shape().first().copied().unwrap_or(0),
            Err(_) => wanted,
        };
        if recorded < wanted {
            self.differences.push(format!(
                "`batch_order` holds {recorded} epochs of {} samples, but training has {wanted}",
                train.len()
            ));
        }
        recorded
    }

    fn parameters(&mut self, prefix: &str, layout: &[Layout]) -> Vec<Parameter> {
        layout
            .iter()
            .map(|Layout { name, shape, .. }| Parameter {
                name: name.clone(),
                shape: shape.clone(),
                values: self.floats(&format!("{prefix}.{name}"), shape),
            })
            .collect()
    }

    fn forward(&mut self, prefix: &str, samples: usize, config: &ExperimentConfig) -> Forward {
        let (heads, positions) = (config.model.n_heads, config.inputs().positions);
        let (d_head, d_model) = (config.model.d_head(), config.model.d_model);
        // One block has no axis of its own, and neither has one logit.
        let per_block = |rest: &[usize]| {
            let layers = Some(config.model.n_layers).filter(|&layers| layers > 1);
            let axes = [samples].into_iter().chain(layers);
            axes.chain(rest.iter().copied()).collect::<Vec<_>>()
        };
        let matrix = per_block(&[heads, positions, positions]);
        let vector = per_block(&[heads, positions, d_head]);
        for name in ["query", "key", "value"] {
            self.floats(&format!("{prefix}.{name}"), &vector);
        }
        let stream = per_block(&[positions, d_model]);
        self.floats(&format!("{prefix}.residual"), &stream);
        if config.model.d_ff > 0 {
            let hidden = per_block(&[positions, config.model.d_ff]);
            self.floats(&format!("{prefix}.feed_forward_hidden"), &hidden);
            self.floats(&format!("{prefix}.feed_forward_residual"), &stream);
        }
        let logits = per_logit(samples, config);
        Forward {
            logits: self.floats(&format!("{prefix}.logits"), &logits),
            scores: self.floats(&format!("{prefix}.attention_scores"), &matrix),
            weights: self.floats(&format!("{prefix}.attention_weights"), &matrix),
            context: self.floats(&format!("{prefix}.context"), &vector),
        }
    }

    fn floats(&mut self, name: &str, shape: &[usize]) -> Vec<f32> {
        let Some(tensor) = self.take(name, &[Dtype::F32], Some(shape)) else {
            return Vec::new();
        };
        let values = float32(tensor.data());
        if !values.iter().all(|value| value.is_finite()) {
            self.differences
                .push(format!("`{name}` holds NaN or infinity"));
        }
        values
    }

    /// Sample indices, all below `limit`.
    fn integers(&mut self, name: &str, shape: Option<&[usize]>, limit: usize) -> Vec<u32> {
        let Some(tensor) = self.take(name, &[Dtype::U16, Dtype::I32], shape) else {
            return Vec::new();
        };
        let width = if tensor.dtype() == Dtype::U16 { 2 } else { 4 };
        let values: Vec<u32> = tensor
            .data()
            .chunks_exact(width)
            .map(|bytes| {
                bytes
                    .iter()
                    .rev()
                    .fold(0, |value, &byte| value << 8 | u32::from(byte))
            })
            .collect();
        if values.iter().any(|&value| value as usize >= limit) {
            self.differences.push(format!(
                "`{name}` holds indices outside the {limit} samples of [data]"
            ));
            return Vec::new();
        }
        values
    }

    fn take(
        &mut self,
        name: &str,
        types: &[Dtype],
        shape: Option<&[usize]>,
    ) -> Option<TensorView<'_>> {
        self.taken.push(name.to_owned());
        let Ok(tensor) = self.tensors.tensor(name) else {
            self.differences.push(format!("`{name}` is missing"));
            return None;
        };
        if !types.contains(&tensor.dtype()) {
            let types: Vec<String> = types.iter().map(|dtype| format!("{dtype:?}")).collect();
            self.differences.push(format!(
                "`{name}` is {:?}, not {}",
                tensor.dtype(),
                types.join(" or ")
            ));
            return None;
        }
        if let Some(shape) = shape
            && tensor.shape() != shape
        {
            self.differences.push(format!(
                "`{name}` has shape {:?}, not {shape:?}",
                tensor.shape()
            ));
            return None;
        }
        Some(tensor)
    }
}

/// The shape of the logits of samples.
fn per_logit(samples: usize, config: &ExperimentConfig) -> Vec<usize> {
    match config.model.n_logits(config.data.n_classes) {
        1 => vec![samples],
        several => vec![samples, several],
    }
}
