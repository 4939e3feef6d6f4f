//! A model, and what it computes.

use std::mem;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread;

use headlight_analysis::generate::{Sampling, generate};
use headlight_architecture::{NormKind, Parameter, Pooling, Positions, StrongestHead};
use headlight_data::words::Encoder;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{Array, FrozenModel, Recording, dims};
use headlight_experiment::metrics::rounded_probabilities;
use headlight_sweep::work;
use headlight_trainer::Failure;
use headlight_trainer::files::samples;
use headlight_trainer::files::weights;
use headlight_trainer::messages::notes::note;
use headlight_trainer::run::RunDir;
use headlight_trainer::session::dumping::is_masked;
use headlight_trainer::show::explanation::head_of_run;
use numpy::{
    Element, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArrayDyn,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::config::Config;
use crate::failure::{raised, warn};
use crate::interventions::{Change, intervention};
use crate::watched::{Listeners, watched};

/// A config's model with weights.
#[pyclass(frozen, module = "headlight._headlight")]
pub(crate) struct Model {
    pub(crate) config: ExperimentConfig,
    /// In the model's order.
    pub(crate) parameters: Vec<Parameter>,
    /// As [`head_of_run`], once it was asked for.
    head: OnceLock<Option<StrongestHead>>,
}

impl Model {
    pub(crate) fn of(config: ExperimentConfig, parameters: Vec<Parameter>) -> Self {
        Self {
            config,
            parameters,
            head: OnceLock::new(),
        }
    }

    /// The head whose attention explanations show, if the samples of the model's config are at hand.
    pub(crate) fn head_of_run(&self) -> Option<StrongestHead> {
        *self
            .head
            .get_or_init(|| head_of_run(&self.config, &self.parameters))
    }

    /// All weights, one after the other.
    pub(crate) fn weights(&self) -> Vec<f32> {
        let parameters = self.parameters.iter();
        let values: Vec<_> = parameters.map(|parameter| &parameter.values[..]).collect();
        values.concat()
    }
}

#[pymethods]
impl Model {
    /// The model of a config with weights by name.
    #[new]
    fn new(config: &Config, weights: Vec<(String, PyReadonlyArrayDyn<'_, f32>)>) -> PyResult<Self> {
        let given = weights.iter().map(|(name, values)| Parameter {
            name: name.clone(),
            shape: values.as_array().shape().to_vec(),
            values: values.as_array().iter().copied().collect(),
        });
        let config = config.config.clone();
        let parameters = Parameter::arrange(given, &config.model.layout(config.inputs()));
        let parameters = parameters.map_err(|mismatch| {
            let message = format!("the weights do not match this model: {mismatch}");
            PyValueError::new_err(message)
        })?;
        Ok(Self::of(config, parameters))
    }

    /// The model of a run, with the weights of one of its files; without a file, the best model if the run keeps it, or else
    /// the last one. Also the step of the model, if it is known.
    #[staticmethod]
    fn of_run(
        py: Python<'_>,
        run: PathBuf,
        file: Option<PathBuf>,
    ) -> PyResult<(Self, Option<usize>)> {
        let read = py.detach(|| {
            let run = RunDir::open(&run)?;
            let config = run.config()?;
            let (path, kept) = run.chosen_model(&config, file.as_deref())?;
            let parameters = weights::load(&config, &path)?;
            let step = kept.and_then(|kept| kept.step);
            Ok((Self::of(config, parameters), step))
        });
        warn(py)?;
        read.map_err(raised)
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
        let read = py.detach(|| {
            let texts = texts.iter().map(String::as_str);
            samples::parse_texts(texts, "the texts", &self.config)
        });
        warn(py)?;
        let tokens = read.map_err(raised)?.all_tokens().to_vec();
        array(py, tokens, &[texts.len(), self.config.inputs().positions])
    }

    /// Samples, given one after the other with their lengths, with `[CLS]` and padding. `[sample, position]`
    fn arrange<'py>(
        &self,
        py: Python<'py>,
        tokens: PyReadonlyArray1<'py, u32>,
        lengths: Vec<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let all: Vec<u32> = tokens.as_array().iter().copied().collect();
        let mut rest = &all[..];
        let rows = lengths.iter().map(|&length| {
            let (row, others) = rest.split_at_checked(length).unwrap_or((rest, &[]));
            rest = others;
            row
        });
        let arranged = self.config.sample_shape().arrange_all(rows);
        let arranged = arranged.map_err(PyValueError::new_err)?;
        if let Some(sentence) = samples::sides_of_padding(&arranged, &self.config, false) {
            note(&sentence);
        }
        warn(py)?;
        array(
            py,
            arranged,
            &[lengths.len(), self.config.inputs().positions],
        )
    }

    /// What the values of arrays and weights mean in this model: which parts it has, and where.
    fn structure<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (model, inputs) = (&self.config.model, self.config.inputs());
        let attention = &model.attention;
        let parts = PyDict::new(py);
        parts.set_item("n_layers", model.n_layers)?;
        parts.set_item("n_heads", model.n_heads)?;
        parts.set_item("d_head", model.d_head())?;
        parts.set_item("d_model", model.d_model)?;
        parts.set_item("d_ff", model.d_ff)?;
        parts.set_item("norm", model.norm.name())?;
        parts.set_item("final_norm", model.has_final_norm())?;
        let is_rms = match model.norm_kind {
            NormKind::Layer => false,
            NormKind::Rms => true,
        };
        parts.set_item("rms", is_rms)?;
        // As the engine rounds it.
        parts.set_item("eps", model.layer_norm_eps as f32)?;
        parts.set_item("rotary", model.positions == Positions::Rotary)?;
        parts.set_item("softmax", attention.softmax)?;
        parts.set_item("padding_token", attention.padding_token)?;
        parts.set_item("masked", is_masked(&self.config))?;
        parts.set_item("classifier_hidden", model.classifier_hidden)?;
        // Of the mean, all positions are read.
        let read = (model.pooling != Some(Pooling::Mean)).then_some(inputs.read_position);
        parts.set_item("read_position", read)?;
        parts.set_item("per_position", inputs.per_position)?;
        Ok(parts)
    }

    /// Continues a prompt with a model of the next token: the text of each sample, if the model has words, and its tokens without
    /// `[CLS]`.
    fn generate(
        &self,
        py: Python<'_>,
        prompt: Vec<u32>,
        count: usize,
        temperature: f64,
        top_k: Option<usize>,
        seed: u64,
        length: Option<usize>,
    ) -> PyResult<Vec<(Option<String>, Vec<u32>)>> {
        let sampling = Sampling {
            temperature,
            top_k,
            seed,
            length,
        };
        let found = py.detach(|| generate(&self.config, &self.weights(), &prompt, count, sampling));
        let found = found.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let words = self.config.data.words.as_ref();
        let text = |tokens: &[u32]| words.map(|words| words.join(tokens));
        let each = found.into_iter().map(|one| one.tokens);
        Ok(each.map(|tokens| (text(&tokens), tokens)).collect())
    }

    /// A text as tokens without `[CLS]` and padding; no text has none.
    fn prompt(&self, text: &str) -> PyResult<Vec<u32>> {
        match &self.config.data.words {
            _ if text.is_empty() => Ok(Vec::new()),
            Some(words) => {
                let known = Encoder::new(words).known(text);
                known.map_err(|lacking| PyValueError::new_err(format!("prompt: {lacking}")))
            }
            None => Err(PyValueError::new_err(
                "the model was trained on token ids; give the prompt as token ids",
            )),
        }
    }

    /// The names of the arrays that the model computes beside the mask.
    fn array_names(&self) -> PyResult<Vec<&'static str>> {
        let dims =
            dims(&self.config, 0).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let computed = Recording::All.arrays(dims).map(Array::name);
        Ok(["logits", "probabilities"]
            .into_iter()
            .chain(computed)
            .collect())
    }

    /// What the model computes for samples with `[CLS]`: arrays by name. `recorded` is `all`; `attention`, which is predictions,
    /// scores and attention weights; or `predictions` alone. `changes` are interventions, see [`Change`].
    fn forward<'py>(
        &self,
        py: Python<'py>,
        tokens: PyReadonlyArray2<'py, u32>,
        changes: Vec<Change>,
        recorded: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let tokens = Tokens::of(&tokens);
        let changes = changes.into_iter().map(intervention);
        let changes = changes.collect::<PyResult<Vec<_>>>()?;
        let recorded = match recorded {
            "all" => Recording::All,
            "attention" => Recording::Attention,
            _ => Recording::Predictions,
        };
        let computed = py.detach(|| {
            let dataset = self.config.unlabelled(tokens.rows())?;
            let chosen: Vec<u32> = (0..dataset.len() as u32).collect();
            let mut frozen = FrozenModel::new(&self.config).map_err(|error| error.to_string())?;
            let forward = frozen.forward(&self.weights(), &dataset, &chosen, &changes, recorded);
            forward.map_err(|error| error.to_string())
        });
        let computed = computed.map_err(PyValueError::new_err)?;

        let dims = computed.dims;
        let logits = computed.predictions.logits;
        let likely = rounded_probabilities(&logits, dims.logits);
        let per_class = dims.shape(dims.axes_of_logits());
        let arrays = PyDict::new(py);
        arrays.set_item("logits", array(py, logits, &per_class)?)?;
        arrays.set_item("probabilities", array(py, likely, &per_class)?)?;
        if !computed.mask.is_empty() {
            let pairs = dims.shape(&["sample", "query", "key"]);
            arrays.set_item("attention_mask", array(py, computed.mask, &pairs)?)?;
        }
        let mut values = computed.arrays;
        for entry in recorded.arrays(dims) {
            let numbers = mem::take(&mut values[entry]);
            arrays.set_item(entry.name(), array(py, numbers, &entry.shape(dims))?)?;
        }
        Ok(arrays)
    }

    /// The text of each token: its word, or else its number.
    fn words(&self, tokens: PyReadonlyArray2<'_, u32>) -> Vec<Vec<String>> {
        let padding = self.config.model.attention.padding_token;
        let text = |&token: &u32| self.config.data.token_text(token, padding);
        let tokens = Tokens::of(&tokens);
        let rows = tokens.rows();
        rows.map(|row| row.iter().map(text).collect()).collect()
    }

    /// Integrated gradients of a logit: what each number of the first layer's input adds to it. `[sample, position,
    /// d_model]`
    fn attribute<'py>(
        &self,
        py: Python<'py>,
        tokens: PyReadonlyArray2<'py, u32>,
        logit: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let tokens = Tokens::of(&tokens);
        let values = watched(py, Listeners::default(), |_, signals| {
            let dataset = self
                .config
                .unlabelled(tokens.rows())
                .map_err(Failure::Input)?;
            let (frozen, weights) = (FrozenModel::new(&self.config)?, self.weights());
            let slopes = frozen.slopes_of(logit)?;
            let attribute = |sample| {
                let found = frozen.attribute(&weights, &dataset, sample as u32, &slopes)?;
                Ok(Some(
                    found.values.iter().map(|&value| value as f32).collect(),
                ))
            };
            let threads = thread::available_parallelism().map_or(1, usize::from);
            let mut all = Vec::new();
            let each = |values: Vec<f32>| {
                all.extend(values);
                Ok(())
            };
            work(attribute, 0..dataset.len(), threads, signals, |_| (), each)?;
            Ok(all)
        })?;
        let positions = self.config.inputs().positions;
        let shape = [tokens.samples, positions, self.config.model.d_model];
        array(py, values, &shape)
    }
}

/// Samples as a copy, since Python may change the array meanwhile.
pub(crate) struct Tokens {
    all: Vec<u32>,
    samples: usize,
    positions: usize,
}

impl Tokens {
    pub(crate) fn of(array: &PyReadonlyArray2<'_, u32>) -> Self {
        let array = array.as_array();
        Self {
            all: array.iter().copied().collect(),
            samples: array.nrows(),
            positions: array.ncols(),
        }
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.samples).map(|row| &self.all[row * self.positions..][..self.positions])
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
