//! Dropout: what a step of training leaves out, as its caller draws it.

use burn::tensor::{Tensor, TensorData};
use headlight_architecture::DropoutPlace;

/// Gives the factors of a place's values, whose first axis is the batch; `None` where all are kept.
pub type Factors<'a> = &'a dyn Fn(DropoutPlace, &[usize]) -> Option<Vec<f32>>;

/// What a forward pass leaves out; nothing by default.
#[derive(Clone, Copy, Default)]
pub struct Dropout<'a>(pub Option<Factors<'a>>);

impl Dropout<'_> {
    /// Multiplies the values of a place by their factors.
    pub fn apply<const D: usize>(self, place: DropoutPlace, values: Tensor<D>) -> Tensor<D> {
        let shape = values.dims();
        let Some(factors) = self.0.and_then(|factors| factors(place, &shape)) else {
            return values;
        };
        let factors = Tensor::from_data(TensorData::new(factors, shape), &values.device());
        values * factors
    }
}
