//! A parameter's values on the host.

/// A parameter's values on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Where it stands in the model.
    pub name: String,
    /// Extent of each axis.
    pub shape: Vec<usize>,
    /// Row-major values.
    pub values: Vec<f32>,
}
