//! Pages as HTML.

use std::path::PathBuf;

use headlight_trainer::page as pages;
use pyo3::prelude::*;

use crate::config::Config;
use crate::failure::{raised, warn};

/// The page of runs and dumps, each given by its path.
#[pyfunction]
pub(crate) fn page(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<String> {
    let html = py.detach(|| {
        let sources = paths
            .iter()
            .map(|path| pages::Source::open(path))
            .collect::<Result<Vec<_>, _>>()?;
        pages::html(&pages::page(&sources, |_, _, _| Ok(()))?)
    });
    warn(py)?;
    html.map_err(raised)
}

/// The page that trains a config when it is opened.
#[pyfunction]
pub(crate) fn lab(py: Python<'_>, name: String, config: &Config) -> PyResult<String> {
    let html = py.detach(|| pages::html(&pages::lab(name, config.config.clone())?));
    warn(py)?;
    html.map_err(raised)
}
