//! A recorded run out of its safetensors file, every tensor checked.

use headlight_data::Dataset;
use headlight_model::Parameter;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::{Forward, Reference};
use crate::config::ExperimentConfig;

/// Takes tensors out of a file and notes whatever is not as expected.
pub(super) struct Reader<'a> {
    tensors: &'a SafeTensors<'a>,
    taken: Vec<String>,
    pub(super) differences: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(tensors: &'a SafeTensors<'a>) -> Self {
        Self {
            tensors,
            taken: Vec::new(),
            differences: Vec::new(),
        }
    }

    /// Notes the tensors that nobody has taken.
    pub(super) fn refuse_others(&mut self) {
        for name in self.tensors.names() {
            if !self.taken.iter().any(|taken| taken == name) {
                self.differences.push(format!("`{name}` is not expected"));
            }
        }
    }

    pub(super) fn reference(
        &mut self,
        own: &[Parameter],
        config: &ExperimentConfig,
        train: &Dataset,
    ) -> Reference {
        let epochs = self.epochs(config, train);
        // A tensor without data can claim any extent.
        let steps = epochs.saturating_mul(train.len().div_ceil(config.training.batch_size));
        let samples = self.integers("samples", None, train.len());
        if samples.is_empty() && self.differences.is_empty() {
            self.differences.push("`samples` is empty".to_owned());
        }
        let order = self.integers("batch_order", Some(&[epochs, train.len()]), train.len());
        let stream = [samples.len(), config.data.seq_len + 1, config.model.d_model];
        let embeddings = self.floats("initial.embeddings", &stream);
        self.floats("final.embeddings", &stream);
        Reference {
            embeddings,
            initial: self.parameters("initial", own),
            gradient: self.parameters("gradient", own),
            last: self.parameters("final", own),
            order: order.chunks(train.len()).map(<[u32]>::to_vec).collect(),
            losses: self.floats("losses", &[steps]),
            before: self.forward("initial", samples.len(), config),
            after: self.forward("final", samples.len(), config),
            probabilities: self.floats("final.probabilities", &[train.len()]),
            samples,
        }
    }

    /// Epochs recorded; as many as the config asks for, or more.
    fn epochs(&mut self, config: &ExperimentConfig, train: &Dataset) -> usize {
        let wanted = config.training.epochs;
        let recorded = match self.tensors.tensor("batch_order") {
            Ok(order) => order.shape().first().copied().unwrap_or(0),
            Err(_) => wanted,
        };
        if recorded < wanted {
            self.differences.push(format!(
                "`batch_order` holds {recorded} epochs of {} samples, where training.epochs is {wanted}",
                train.len()
            ));
        }
        recorded
    }

    fn parameters(&mut self, prefix: &str, own: &[Parameter]) -> Vec<Parameter> {
        own.iter()
            .map(|own| Parameter {
                name: own.name.clone(),
                shape: own.shape.clone(),
                values: self.floats(&format!("{prefix}.{}", own.name), &own.shape),
            })
            .collect()
    }

    fn forward(&mut self, prefix: &str, samples: usize, config: &ExperimentConfig) -> Forward {
        let (heads, positions) = (config.model.n_heads, config.data.seq_len + 1);
        let (d_head, d_model) = (config.model.d_head(), config.model.d_model);
        let matrix = [samples, heads, positions, positions];
        let vector = [samples, heads, positions, d_head];
        for name in ["query", "key", "value"] {
            self.floats(&format!("{prefix}.{name}"), &vector);
        }
        self.floats(
            &format!("{prefix}.residual"),
            &[samples, positions, d_model],
        );
        Forward {
            logits: self.floats(&format!("{prefix}.logits"), &[samples]),
            scores: self.floats(&format!("{prefix}.attention_scores"), &matrix),
            weights: self.floats(&format!("{prefix}.attention_weights"), &matrix),
            context: self.floats(&format!("{prefix}.context"), &vector),
        }
    }

    fn floats(&mut self, name: &str, shape: &[usize]) -> Vec<f32> {
        let Some(tensor) = self.take(name, &[Dtype::F32], Some(shape)) else {
            return Vec::new();
        };
        let values: Vec<f32> = tensor
            .data()
            .chunks_exact(4)
            .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect();
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
                "`{name}` names samples beyond the {limit} there are"
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
