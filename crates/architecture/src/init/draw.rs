//! The initial values of a parameter, and how they are drawn.

use rand::Rng;

use crate::mathematics::ln;

/// The initial values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Initializer {
    /// Drawn uniformly from `[-limit, limit)`.
    Uniform(f32),
    /// Drawn from a normal distribution of mean 0 with this standard deviation.
    Normal(f64),
    /// The same number everywhere.
    Constant(f32),
}

impl Initializer {
    /// Draws so many values.
    pub(crate) fn draw(self, count: usize, rng: &mut impl Rng) -> Vec<f32> {
        match self {
            Self::Uniform(limit) => (0..count).map(|_| uniform(rng, limit)).collect(),
            Self::Constant(value) => vec![value; count],
            Self::Normal(std) => {
                let pairs = std::iter::repeat_with(|| normal_pair(rng)).flatten();
                pairs
                    .take(count)
                    .map(|number| (std * number) as f32)
                    .collect()
            }
        }
    }
}

/// A number from `[-limit, limit)`, from the upper 24 bits of a word.
fn uniform(rng: &mut impl Rng, limit: f32) -> f32 {
    let unit = (rng.next_u32() >> 8) as f32 / (1_u32 << 24) as f32;
    (2.0 * unit - 1.0) * limit
}

/// Two independent numbers from the standard normal distribution, by Marsaglia's polar method (Marsaglia and Bray 1964).
fn normal_pair(rng: &mut impl Rng) -> [f64; 2] {
    loop {
        let [u, v] = [(); 2].map(|()| {
            let unit = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            2.0 * unit - 1.0
        });
        let square = u * u + v * v;
        if square > 0.0 && square < 1.0 {
            let factor = (-2.0 * ln(square) / square).sqrt();
            return [u * factor, v * factor];
        }
    }
}
