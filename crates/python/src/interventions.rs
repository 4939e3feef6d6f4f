//! Interventions, from Python.

use headlight_experiment::fused::Intervention;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An intervention as the package writes it: its kind or place, numbers that say where, and new values.
pub(crate) type Change = (String, Vec<usize>, Vec<f32>);

pub(crate) fn intervention((kind, at, values): Change) -> PyResult<Intervention> {
    Ok(match (kind.as_str(), &at[..]) {
        ("head", &[layer, head]) => Intervention::AblateHead { layer, head },
        ("key", &[layer, position]) => Intervention::MaskKey { layer, position },
        ("block", &[layer]) => Intervention::AblateLayer { layer },
        ("weights", &[layer, head, query]) => Intervention::SetAttention {
            layer,
            head,
            query,
            weights: values,
        },
        (place, &[position]) => Intervention::Patch {
            site: place.parse().map_err(PyValueError::new_err::<String>)?,
            position,
            vector: values,
        },
        _ => {
            return Err(PyValueError::new_err(format!(
                "there is no intervention `{kind}` at {at:?}"
            )));
        }
    })
}
