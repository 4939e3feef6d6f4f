//! Integrated gradients (Sundararajan et al. 2017): how much each number of a sample's input adds to a logit.
//!
//! ```text
//! attribution_i = (x_i - x'_i) ∫ dz/dx_i(x' + t (x - x')) dt    over t from 0 to 1, by the midpoint rule
//! ```
//!
//! `x` is the first block's input, `x'` a baseline. The attributions sum to `z(x) - z(x')`; how closely the computed
//! ones do says how exact the integral is.

use alloc::vec;
use alloc::vec::Vec;

use crate::architecture::Architecture;
use crate::arrays::Array;
use crate::blocks::{Blocks, Probe, Site, padded};
use crate::forward::InvalidForward;
use crate::lanes::{LANES, Lanes};
use crate::samples::Samples;

/// Integrated gradients of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribution {
    /// What each number of the first block's input adds to the logit. `[position, d_model]`
    pub values: Vec<f64>,
    /// The logit of the sample, and that of the baseline.
    pub logits: [f64; 2],
    /// The points at which the gradient was taken.
    pub points: usize,
}

impl Attribution {
    /// How far the sum of the values is from the difference of the logits.
    pub fn error(&self) -> f64 {
        let [sample, baseline] = self.logits;
        (self.values.iter().sum::<f64>() - (sample - baseline)).abs()
    }
}

/// The error from which on more points are taken, and the most points.
const TOLERANCE: f64 = 1e-5;
const MOST_POINTS: usize = 1 << 14;

/// Integrated gradients of a logit of a sample, from a baseline `[position, d_model]`: zeros, or the input of another
/// sample. Takes twice as many points until the error is below 1e-5, or there are 16,384.
///
/// # Errors
/// When the architecture cannot be.
///
/// # Panics
/// When parameters or baseline have the wrong number of values, there is no such logit, or as
/// [`Model::step`](crate::Model::step).
pub fn integrated_gradients(
    architecture: &Architecture,
    parameters: &[f32],
    samples: Samples<'_>,
    sample: u32,
    logit: usize,
    baseline: &[f32],
) -> Result<Attribution, InvalidForward> {
    let architecture = architecture.clone().validate();
    let architecture = architecture.map_err(InvalidForward::Architecture)?;
    let mut blocks = Blocks::new(&architecture);
    let parameters = blocks.pack(parameters);
    let (positions, d_model) = (architecture.positions, architecture.d_model);
    assert!(
        baseline.len() == positions * d_model,
        "the baseline has {positions} rows of {d_model} numbers"
    );
    let mut path = Path {
        d_model,
        baseline,
        difference: Vec::new(),
        shares: [0.0; LANES],
    };
    // Its own logit in the first lane, and the baseline's in the second.
    path.shares[0] = 1.0;
    let (_, ends) = blocks.input_gradient(&parameters, samples, sample, logit, &mut path);
    let logits = [ends[0], ends[1]].map(f64::from);
    let mut points = 8 * LANES;
    loop {
        let mut sums = vec![0.0; baseline.len()];
        for first in (0..points).step_by(LANES) {
            path.shares =
                core::array::from_fn(|lane| ((first + lane) as f64 + 0.5) as f32 / points as f32);
            let (gradient, _) =
                blocks.input_gradient(&parameters, samples, sample, logit, &mut path);
            let rows = gradient.chunks_exact(padded(d_model));
            for (sums, row) in sums.chunks_exact_mut(d_model).zip(rows) {
                for (sum, lanes) in sums.iter_mut().zip(row) {
                    *sum += lanes.iter().map(|&slope| f64::from(slope)).sum::<f64>();
                }
            }
        }
        let values = sums.iter().zip(&path.difference);
        let attribution = Attribution {
            values: values
                .map(|(sum, &difference)| sum / points as f64 * f64::from(difference))
                .collect(),
            logits,
            points,
        };
        if attribution.error() < TOLERANCE || points >= MOST_POINTS {
            return Ok(attribution);
        }
        points *= 2;
    }
}

/// Replaces the input by points on the way from the baseline, one per lane.
struct Path<'a> {
    d_model: usize,
    baseline: &'a [f32],
    /// The sample's input minus the baseline.
    difference: Vec<f32>,
    /// The share of the way of each lane's point.
    shares: [f32; LANES],
}

impl Probe for Path<'_> {
    fn reach(&mut self, site: Site, values: &mut [Lanes]) {
        if site != Site::Vectors(Array::Embeddings, 0) {
            return;
        }
        let (width, d_model) = (padded(self.d_model), self.d_model);
        if self.difference.is_empty() {
            let inputs = values.chunks_exact(width).flat_map(|row| &row[..d_model]);
            let pairs = inputs.zip(self.baseline);
            self.difference = pairs.map(|(input, start)| input[0] - start).collect();
        }
        let values = values
            .chunks_exact_mut(width)
            .flat_map(|row| &mut row[..d_model]);
        let points = self.baseline.iter().zip(&self.difference);
        for (value, (start, difference)) in values.zip(points) {
            *value = self.shares.map(|share| start + share * difference);
        }
    }
}
