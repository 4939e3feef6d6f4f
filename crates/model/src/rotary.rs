//! Rotary positions: queries and keys are rotated by their position (Su et al. 2021).

use burn::module::Module;
use burn::tensor::{Tensor, s};

/// The rotation of each position. Component `i` of a head is paired with component `i + d_head / 2`, as in GPT-NeoX.
#[derive(Module, Debug)]
pub struct Rotary {
    /// Cosines of the angles. `[position, d_head / 2]`
    pub cos: Tensor<2>,
    /// Sines of the angles. `[position, d_head / 2]`
    pub sin: Tensor<2>,
}

impl Rotary {
    /// Rotates each position's vectors: `(a, b)` to `(a cos - b sin, b cos + a sin)`.
    ///
    /// # Shapes
    /// - vectors, output: `[batch, head, position, d_head]`
    pub fn forward(&self, vectors: Tensor<4>) -> Tensor<4> {
        let [_, _, positions, d_head] = vectors.dims();
        let [cos, sin] = [&self.cos, &self.sin]
            .map(|table| table.clone().slice(s![0..positions, ..]).unsqueeze::<4>()); // [1, 1, position, d_head / 2]
        let half = d_head / 2;
        let a = vectors.clone().slice(s![.., .., .., ..half]); // [batch, head, position, d_head / 2]
        let b = vectors.slice(s![.., .., .., half..]); // [batch, head, position, d_head / 2]
        let rotated = vec![
            a.clone() * cos.clone() - b.clone() * sin.clone(),
            b * cos + a * sin,
        ];
        Tensor::cat(rotated, 3) // [batch, head, position, d_head]
    }
}
