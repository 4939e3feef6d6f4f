//! Interventions, from Python.

use headlight_experiment::fused::{Intervention, Place};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An intervention as the package writes it.
pub(crate) fn intervention(change: &Bound<'_, PyDict>) -> PyResult<Intervention> {
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
                    "context" => match change.get_item("head")? {
                        Some(head) => Place::Head(number("layer")?, head.extract()?),
                        None => Place::Context(number("layer")?),
                    },
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
