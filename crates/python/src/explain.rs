//! Which words decided.

use headlight_trainer::show::explanation;
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::failure::raised;
use crate::model::{Model, Tokens};

/// The columns of the table for people.
const COLUMNS: usize = 80;

/// Explains the prediction of a sample with `[CLS]`; `text` is what the user wrote, if it is a text. As JSON and as a table.
#[pyfunction]
pub(crate) fn explain(
    py: Python<'_>,
    model: &Model,
    tokens: PyReadonlyArray2<'_, u32>,
    text: Option<String>,
) -> PyResult<(String, String)> {
    let tokens = Tokens::of(&tokens);
    let config = &model.config;
    let dataset = config.unlabelled(tokens.rows());
    let dataset = dataset.map_err(PyValueError::new_err)?;
    let explained = py.detach(|| {
        let (head, text) = (model.head_of_run(), text.as_deref());
        explanation::of_sample(config, &model.parameters, &dataset, text, head)
    });
    let explained = explained.map_err(|failure| raised(failure.of_given_model()))?;
    let table = explanation::table(&explained, config);
    let json = explanation::json(&explained, &config.data).to_string();
    Ok((json, table.text(COLUMNS)))
}
