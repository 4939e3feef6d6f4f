//! Pages as HTML.

use std::path::PathBuf;

use headlight_page::{OtherAttention, Page};
use headlight_trainer::show::page as pages;
use numpy::{PyReadonlyArray3, PyReadonlyArray5};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::failure::{raised, warn};

/// The page of a run.
#[pyfunction]
pub(crate) fn page(py: Python<'_>, run: PathBuf) -> PyResult<String> {
    let html = py.detach(|| pages::html(&pages::page(&[pages::PageSource::open(&run)?])?));
    warn(py)?;
    html.map_err(raised)
}

/// The page of attention from anywhere: weights and scores `[sample, layer, head, query, key]`, the mask
/// `[sample, query, key]`, tokens `[sample][position]`.
#[pyfunction]
pub(crate) fn attention_page(
    py: Python<'_>,
    title: String,
    tokens: Vec<Vec<String>>,
    weights: PyReadonlyArray5<'_, f32>,
    scores: Option<PyReadonlyArray5<'_, f32>>,
    mask: PyReadonlyArray3<'_, bool>,
) -> PyResult<String> {
    let all = |array: &PyReadonlyArray5<'_, f32>| array.as_array().iter().copied().collect();
    let attention = OtherAttention {
        title,
        layers: weights.as_array().shape()[1],
        heads: weights.as_array().shape()[2],
        tokens,
        weights: all(&weights),
        scores: scores.as_ref().map(all),
        mask: mask.as_array().iter().copied().collect(),
    };
    let page = py.detach(|| Page::of_attention(attention));
    pages::html(&page.map_err(PyValueError::new_err)?).map_err(raised)
}
