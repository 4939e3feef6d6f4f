//! Configs: built in, from a file, or from a dict.

use std::path::Path;

use headlight_experiment::config::ExperimentConfig;
use headlight_trainer::Failure;
use headlight_trainer::files::built_in;
use headlight_trainer::files::config;
use headlight_trainer::files::dataset_file::DatasetFiles;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use toml::{Table, Value};

use crate::failure::{raised, warn};

/// A resolved config: complete and checked.
#[pyclass(frozen, module = "headlight._headlight")]
pub(crate) struct Config {
    pub(crate) config: ExperimentConfig,
}

#[pymethods]
impl Config {
    /// Resolves a config. `source` is the name of a built-in config or a path, or, with `is_json`, a config as JSON;
    /// `changes` are the sections to change, as JSON.
    #[new]
    fn new(py: Python<'_>, source: &str, is_json: bool, changes: &str) -> PyResult<Self> {
        let resolved = py.detach(|| resolve(source, is_json, changes));
        warn(py)?;
        let config = resolved.map_err(raised)?;
        Ok(Self { config })
    }

    /// The config as JSON.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.config)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// The names of the built-in configs.
#[pyfunction]
pub(crate) fn built_in_configs() -> Vec<&'static str> {
    built_in::CONFIGS.iter().map(|config| config.name).collect()
}

/// A config as TOML, from JSON.
#[pyfunction]
pub(crate) fn toml_of(json: &str) -> PyResult<String> {
    Ok(table(json, "the config").map_err(raised)?.to_string())
}

fn resolve(source: &str, is_json: bool, changes: &str) -> Result<ExperimentConfig, Failure> {
    let changes = changes_of(changes)?;
    let changes = changes.iter().map(|change| ("argument", change.as_str()));
    let files = &DatasetFiles::default();
    let mut config = if is_json {
        let text = table(source, "the config")?.to_string();
        config::parse(Path::new("config"), &text, changes, files)?
    } else {
        config::load_changed(Path::new(source), changes, files)?
    };
    config.compute.engine = headlight_trainer::session::opening::engine_for(&config)?;
    Ok(config)
}

/// A JSON object as TOML.
fn table(json: &str, name: &str) -> Result<Table, Failure> {
    serde_json::from_str(json).map_err(|error| Failure::Input(format!("{name}: {error}")))
}

/// Changes as `--set` takes them, from sections as JSON: `section.key=value`, and `seed=value` for what is in no section.
pub(crate) fn changes_of(json: &str) -> Result<Vec<String>, Failure> {
    let changes = table(json, "the changes")?;
    let settings = changes.iter().flat_map(|(section, value)| match value {
        Value::Table(keys) => {
            let each = keys
                .iter()
                .map(|(key, value)| format!("{section}.{key}={value}"));
            each.collect()
        }
        value => vec![format!("{section}={value}")],
    });
    Ok(settings.collect())
}
