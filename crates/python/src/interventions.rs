//! Interventions, from Python.

use headlight_experiment::fused::{Array, Intervention, Place};
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
            let array: String = required("place")?.extract()?;
            let layer = number("layer")?;
            let place = match change.get_item("head")? {
                Some(head) => Some(Place::Head(layer, head.extract()?)),
                None => Place::of(&array, layer),
            };
            Intervention::Replace {
                place: place.ok_or_else(|| {
                    let known = Place::ARRAYS.map(Array::name).join(", ");
                    PyValueError::new_err(format!("there is no place `{array}`; there are {known}"))
                })?,
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
