//! A named parameter.

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
}
