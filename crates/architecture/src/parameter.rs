//! A named parameter, and whether a set of them belongs to a model.

use std::collections::BTreeMap;

use crate::ParameterSpec;

/// A named parameter, with its values as plain numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its path in the model, such as `classifier.bias`.
    pub name: String,
    /// Extent of each axis.
    pub shape: Vec<usize>,
    /// Row-major values.
    pub values: Vec<f32>,
}

impl Parameter {
    /// The values of parameters, one after the other.
    pub fn weights(parameters: &[Self]) -> Vec<f32> {
        let values = parameters.iter().flat_map(|parameter| &parameter.values);
        values.copied().collect()
    }

    /// Sorts parameters into a model's order.
    ///
    /// # Errors
    /// When names or shapes differ from the model's, or values are NaN or infinite. Lists each difference.
    pub fn arrange(
        given: impl IntoIterator<Item = Self>,
        layout: &[ParameterSpec],
    ) -> Result<Vec<Self>, String> {
        let named = given
            .into_iter()
            .map(|parameter| (parameter.name.clone(), parameter));
        let mut given: BTreeMap<String, Self> = named.collect();
        let mut differences = Vec::new();
        let mut is_transposed = false;
        let mut arranged = Vec::with_capacity(layout.len());
        for ParameterSpec { name, shape, .. } in layout {
            match given.remove(name) {
                None => differences.push(format!("`{name}` {shape:?} is missing")),
                Some(other) if other.shape != *shape => {
                    is_transposed |= other.shape.iter().rev().eq(shape) && shape.len() > 1;
                    let given = other.shape;
                    differences.push(format!("`{name}` has shape {given:?}, not {shape:?}"));
                }
                Some(other) if !other.values.iter().all(|value| value.is_finite()) => {
                    differences.push(format!("`{name}` holds NaN or infinity"));
                }
                Some(other) => arranged.push(other),
            }
        }
        let unknown = given.keys();
        differences
            .extend(unknown.map(|name| format!("`{name}` is not a parameter of this model")));
        if is_transposed {
            let all = "matrices are [in, out]: transpose each one, square ones too";
            differences.push(all.to_owned());
        }
        if differences.is_empty() {
            Ok(arranged)
        } else {
            Err(differences.join("; "))
        }
    }
}
