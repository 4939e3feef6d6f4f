//! A model, and what it computes.

use std::path::PathBuf;

use headlight_architecture::Parameter;
use headlight_data::Dataset;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{Frozen, Intervention, Place, Recorded};
use headlight_experiment::metrics::probabilities;
use headlight_trainer::run_dir::RunDir;
use headlight_trainer::{Failure, samples, weights};
use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::config::Config;
use crate::failure::{raised, warn};

/// A config's model with weights.
#[pyclass(frozen, module = "headlight._headlight")]
pub(crate) struct Model {
    config: ExperimentConfig,
    /// In the model's order.
    parameters: Vec<Parameter>,
    /// The same, one after the other.
    weights: Vec<f32>,
}

impl Model {
    pub(crate) fn of(config: ExperimentConfig, parameters: &[Parameter]) -> Self {
        Self {
            weights: parameters
                .iter()
                .flat_map(|own| own.values.iter().copied())
                .collect(),
            parameters: parameters.to_vec(),
            config,
        }
    }

    /// Parameters in any order, which must be those of the config's model.
    fn arranged(config: ExperimentConfig, given: Vec<Parameter>) -> Result<Self, String> {
        let layout = config.model.layout(config.inputs());
        let parameters = Parameter::arrange(given, &layout);
        let parameters = parameters
            .map_err(|mismatch| format!("the weights do not match this model: {mismatch}"))?;
        Ok(Self::of(config, &parameters))
    }

    /// Samples with `[CLS]`, as a dataset whose labels mean nothing.
    fn dataset(&self, tokens: &[u32], positions: usize) -> Result<Dataset, String> {
        let inputs = self.config.inputs();
        if positions != inputs.positions {
            let count = inputs.positions - 1;
            return Err(format!(
                "a sample has {count} tokens, with [CLS] {}; these have {positions}",
                inputs.positions
            ));
        }
        let mut samples = Dataset::empty(self.config.data.seq_len);
        for (index, tokens) in tokens.chunks_exact(positions).enumerate() {
            if tokens[inputs.cls_position] != 0 {
                return Err(format!(
                    "sample {index}: position {} is not [CLS], which is token 0",
                    inputs.cls_position
                ));
            }
            if let Some(token) = tokens
                .iter()
                .find(|&&token| token as usize >= inputs.vocab_size)
            {
                let size = inputs.vocab_size;
                return Err(format!(
                    "sample {index}: token {token} is not below data.vocab_size, {size}"
                ));
            }
            samples.push(tokens, 0);
        }
        Ok(samples)
    }
}

#[pymethods]
impl Model {
    /// The model of a config from the bytes of a safetensors file.
    #[new]
    fn new(config: &Config, bytes: &[u8]) -> PyResult<Self> {
        let given = weights::decode(bytes).map_err(PyValueError::new_err)?;
        Self::arranged(config.config.clone(), given).map_err(PyValueError::new_err)
    }

    /// The model of a run, with the weights of one of its files, or after its last step.
    #[staticmethod]
    fn of_run(py: Python<'_>, run: PathBuf, file: Option<PathBuf>) -> PyResult<Self> {
        let read = py.detach(|| {
            let run = RunDir::open(&run)?;
            let config = run.config()?;
            let parameters = match file {
                Some(file) => weights::load(&config, &run.path_of(&file))?,
                None => run.load_weights(&config)?,
            };
            Ok((config, parameters))
        });
        warn(py)?;
        let (config, parameters) = read.map_err(raised)?;
        Ok(Self::of(config, &parameters))
    }

    /// The config.
    fn config(&self) -> Config {
        Config {
            config: self.config.clone(),
        }
    }

    /// The bytes of `model.safetensors`.
    fn safetensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = weights::encode(self.parameters.clone()).map_err(raised)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The weights by name.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for parameter in &self.parameters {
            all.set_item(
                &parameter.name,
                array(py, parameter.values.clone(), &parameter.shape)?,
            )?;
        }
        Ok(all)
    }

    /// Texts as tokens with `[CLS]`, with the words of the model's run. `[sample, position]`
    fn encode<'py>(&self, py: Python<'py>, texts: Vec<String>) -> PyResult<Bound<'py, PyAny>> {
        let read = py.detach(|| -> Result<Vec<u32>, Failure> {
            let mut all = Vec::new();
            for text in &texts {
                all.extend_from_slice(samples::parse_text(text, &self.config)?.all_tokens());
            }
            Ok(all)
        });
        warn(py)?;
        let positions = self.config.inputs().positions;
        array(py, read.map_err(raised)?, &[texts.len(), positions])
    }

    /// What the model computes for samples with `[CLS]`: arrays by name. Without `all`, predictions, scores and weights
    /// alone. `changes` are interventions, each a dict with its `kind`.
    fn forward<'py>(
        &self,
        py: Python<'py>,
        tokens: PyReadonlyArray2<'py, u32>,
        changes: Vec<Bound<'py, PyDict>>,
        all: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let positions = tokens.as_array().ncols();
        // A copy: Python may change the array meanwhile.
        let tokens: Vec<u32> = tokens.as_array().iter().copied().collect();
        let changes: Vec<Intervention> =
            changes.iter().map(intervention).collect::<PyResult<_>>()?;
        let recorded = if all {
            Recorded::All
        } else {
            Recorded::Attention
        };
        let computed = py.detach(|| {
            let dataset = self.dataset(&tokens, positions)?;
            let chosen: Vec<u32> = (0..dataset.len() as u32).collect();
            let mut frozen = Frozen::new(&self.config).map_err(|error| error.to_string())?;
            let forward = frozen.forward(&self.weights, &dataset, &chosen, &changes, recorded);
            forward.map_err(|error| error.to_string())
        });
        let computed = computed.map_err(PyValueError::new_err)?;

        let (model, inputs) = (&self.config.model, self.config.inputs());
        let samples = tokens.len() / positions;
        let n_logits = inputs.n_logits();
        let logits = computed.predictions.logits;
        let wide: Vec<f64> = logits.iter().map(|&logit| logit.into()).collect();
        let likely: Vec<f32> = wide
            .chunks(n_logits)
            .flat_map(probabilities)
            .map(|probability| probability as f32)
            .collect();
        let per_class = if n_logits == 1 {
            vec![samples]
        } else {
            vec![samples, n_logits]
        };
        let pairs = [samples, model.n_layers, model.n_heads, positions, positions];
        let per_head = [
            samples,
            model.n_layers,
            model.n_heads,
            positions,
            model.d_head(),
        ];
        let per_layer = [samples, model.n_layers, positions, model.d_model];
        let arrays = PyDict::new(py);
        let set = |name: &str, values: Vec<f32>, shape: &[usize]| {
            arrays.set_item(name, array(py, values, shape)?)
        };
        set("logits", logits, &per_class)?;
        set("probabilities", likely, &per_class)?;
        set("attention_scores", computed.scores, &pairs)?;
        set("attention_weights", computed.weights, &pairs)?;
        if !computed.mask.is_empty() {
            arrays.set_item(
                "attention_mask",
                array(py, computed.mask, &[samples, positions, positions])?,
            )?;
        }
        if all {
            set("query", computed.query, &per_head)?;
            set("key", computed.key, &per_head)?;
            set("value", computed.value, &per_head)?;
            set("context", computed.context, &per_head)?;
            set(
                "embeddings",
                computed.embeddings,
                &[samples, positions, model.d_model],
            )?;
            set("residual", computed.residual, &per_layer)?;
            set("output", computed.output, &per_layer)?;
            if model.d_ff > 0 {
                let hidden = [samples, model.n_layers, positions, model.d_ff];
                set("feed_forward_hidden", computed.hidden, &hidden)?;
                set(
                    "feed_forward_residual",
                    computed.feed_forward_residual,
                    &per_layer,
                )?;
            }
        }
        Ok(arrays)
    }

    /// Integrated gradients of a logit: what each number of the first block's input adds to it. `[sample, position,
    /// d_model]`, with the logit at the baseline and for the sample.
    fn attribute<'py>(
        &self,
        py: Python<'py>,
        tokens: PyReadonlyArray2<'py, u32>,
        logit: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let positions = tokens.as_array().ncols();
        let tokens: Vec<u32> = tokens.as_array().iter().copied().collect();
        let computed = py.detach(|| -> Result<Vec<f32>, String> {
            let dataset = self.dataset(&tokens, positions)?;
            let frozen = Frozen::new(&self.config).map_err(|error| error.to_string())?;
            let mut all = Vec::new();
            for sample in 0..dataset.len() as u32 {
                let found = frozen.attribute(&self.weights, &dataset, sample, logit);
                let found = found.map_err(|error| error.to_string())?;
                all.extend(found.values.iter().map(|&value| value as f32));
            }
            Ok(all)
        });
        let values = computed.map_err(PyValueError::new_err)?;
        array(
            py,
            values,
            &[
                tokens.len() / positions,
                positions,
                self.config.model.d_model,
            ],
        )
    }
}

/// Numbers as an array, without a copy.
fn array<'py, T: Element>(
    py: Python<'py>,
    values: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let flat = PyArray1::from_vec(py, values);
    Ok(flat.reshape(shape.to_vec())?.into_any())
}

/// An intervention as the package writes it.
fn intervention(change: &Bound<'_, PyDict>) -> PyResult<Intervention> {
    let required = |name: &str| {
        let missing = || PyValueError::new_err(format!("an intervention lacks `{name}`"));
        change.get_item(name)?.ok_or_else(missing)
    };
    let number = |name: &str| required(name)?.extract::<usize>();
    let kind: String = required("kind")?.extract()?;
    Ok(match kind.as_str() {
        "head" => Intervention::RemoveHead {
            layer: number("layer")?,
            head: number("head")?,
        },
        "key" => Intervention::RemoveKey {
            layer: number("layer")?,
            position: number("position")?,
        },
        "block" => Intervention::RemoveBlock {
            layer: number("layer")?,
        },
        "weights" => Intervention::SetWeights {
            layer: number("layer")?,
            head: number("head")?,
            query: number("query")?,
            weights: required("weights")?.extract()?,
        },
        "vector" => {
            let place: String = required("place")?.extract()?;
            Intervention::Replace {
                place: match place.as_str() {
                    "embeddings" => Place::Embeddings,
                    "context" => Place::Context(number("layer")?),
                    "residual" => Place::Residual(number("layer")?),
                    "output" => Place::Output(number("layer")?),
                    other => {
                        let message = format!(
                            "there is no place `{other}`; there are embeddings, context, residual, output"
                        );
                        return Err(PyValueError::new_err(message));
                    }
                },
                position: number("position")?,
                vector: required("vector")?.extract()?,
            }
        }
        other => {
            return Err(PyValueError::new_err(format!(
                "there is no intervention `{other}`"
            )));
        }
    })
}
