//! Integrated gradients (Sundararajan et al. 2017): how much each number of a sample's input adds to a logit, or to a
//! weighted sum of logits.
//!
//! ```text
//! attribution_i = (x_i - x'_i) ∫ dz/dx_i(x' + t (x - x')) dt    over t from 0 to 1
//! ```
//!
//! `x` is the first layer's input, `x'` a baseline. The attributions sum to `z(x) - z(x')`; how closely the computed
//! ones do says how exact the integral is. The same holds for each part of the path: where it does not yet, the part is
//! halved. So most points lie where the logit changes fast: near a baseline of zeros, where the norm of the first layer
//! turns, and at the kinks of rectifiers. Equally distant points needed up to 16,384.

use crate::architecture::Architecture;
use crate::arrays::Array;
use crate::engine::GeneralEngine;
use crate::hook::{Hook, HookPoint};
use crate::lanes::{LANES, Lanes};
use crate::parameters::padded;
use crate::samples::Samples;
use crate::training::CrossEntropy;

/// Integrated gradients of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribution {
    /// What each number of the first layer's input adds to the sum. `[position, d_model]`
    pub values: Vec<f64>,
    /// The sum of the sample's logits, and that of the baseline's.
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

/// The points of Gauss-Lobatto on a part of the path, its ends among them, and their weights: one pass takes all.
const NODES: [f64; LANES] = [
    0.0,
    0.064_129_925_745_196_69,
    0.204_149_909_283_428_86,
    0.395_350_391_048_760_6,
    0.604_649_608_951_239_4,
    0.795_850_090_716_571_1,
    0.935_870_074_254_803_3,
    1.0,
];
const WEIGHTS: [f64; LANES] = [
    0.017_857_142_857_142_857,
    0.105_352_113_571_753_02,
    0.170_561_346_241_752_18,
    0.206_229_397_329_351_94,
    0.206_229_397_329_351_94,
    0.170_561_346_241_752_18,
    0.105_352_113_571_753_02,
    0.017_857_142_857_142_857,
];

/// The error from which on a part is halved, and the error of the whole that is small enough, for logits up to 1: larger
/// ones are less exact as float32, too. Below that, rounding decides which parts are halved.
const PART_TOLERANCE: f64 = 5e-6;
const TOLERANCE: f64 = 5e-5;
/// The parts of the first round, and the most points.
const FIRST_PARTS: u32 = 4;
const MOST_POINTS: usize = 1 << 12;

/// Integrated gradients of a sum of a sample's logits, each times its slope, from a baseline `[position, d_model]`, such as the
/// input of another sample, or from zeros. Halves parts of the path until the error is below 5e-5 times the larger logit, or 5e-5 if that is below 1, or
/// there would be more than 4,096 points.
///
/// # Panics
/// When there are too few parameters, when slopes or baseline have the wrong number of values, or as
/// [`Tracer::forward`](crate::Tracer::forward).
pub fn integrated_gradients(
    architecture: &Architecture,
    parameters: &[f32],
    samples: Samples<'_>,
    sample: u32,
    slopes: &[f32],
    baseline: Option<&[f32]>,
) -> Attribution {
    let mut engine = GeneralEngine::new(architecture, CrossEntropy::default());
    let parameters = engine.layout().pack(parameters);
    let (positions, d_model) = (architecture.inputs.positions, architecture.model.d_model);
    let zeros = vec![0.0; positions * d_model];
    let baseline = baseline.unwrap_or(&zeros);
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
    // Its own logits in the first lane, and the baseline's in the second.
    path.shares[0] = 1.0;
    let lanes: Vec<Lanes> = slopes.iter().map(|&slope| [slope; LANES]).collect();
    let samples = (samples, &[sample; LANES][..]);
    let mut gradient_at = |path: &mut Path<'_>| {
        let (gradient, of_logits) =
            engine.input_gradient(&parameters, samples, &lanes, false, Some(path));
        let mut sum = [0.0; LANES];
        for (&slope, logit) in slopes.iter().zip(of_logits) {
            for (sum, &logit) in sum.iter_mut().zip(logit) {
                *sum += f64::from(slope) * f64::from(logit);
            }
        }
        (gradient.to_vec(), sum)
    };
    let (_, ends) = gradient_at(&mut path);
    let logits = [ends[0], ends[1]];
    let scale = logits[0].abs().max(logits[1].abs()).max(1.0);

    let mut attribution = Attribution {
        values: Vec::new(),
        logits,
        points: 0,
    };
    // Of parts that are exact enough, and of those that are not: these are halved in the next round.
    let mut done = vec![0.0; baseline.len()];
    let first = |part| f64::from(part) / f64::from(FIRST_PARTS);
    // Each with its start and its width.
    let mut parts: Vec<[f64; 2]> = (0..FIRST_PARTS)
        .map(|part| [first(part), first(1)])
        .collect();
    loop {
        let mut left = vec![0.0; baseline.len()];
        let mut halves = Vec::new();
        let mut areas = vec![0.0; baseline.len()];
        for [start, width] in parts {
            path.shares = NODES.map(|node| (start + width * node) as f32);
            let (gradient, found) = gradient_at(&mut path);
            integrate(&gradient, width, d_model, &mut areas);
            let pairs = areas.iter().zip(&path.difference);
            let sum: f64 = pairs.map(|(area, &change)| area * f64::from(change)).sum();
            let change = found[LANES - 1] - found[0];
            let into = if (sum - change).abs() < PART_TOLERANCE * scale {
                &mut done
            } else {
                let half = width / 2.0;
                halves.extend([[start, half], [start + half, half]]);
                &mut left
            };
            for (into, area) in into.iter_mut().zip(&areas) {
                *into += area;
            }
            attribution.points += LANES;
        }
        let sums = done.iter().zip(&left).zip(&path.difference);
        attribution.values = sums
            .map(|((done, left), &difference)| (done + left) * f64::from(difference))
            .collect();
        if halves.is_empty()
            || attribution.error() < TOLERANCE * scale
            || attribution.points + halves.len() * LANES > MOST_POINTS
        {
            return attribution;
        }
        parts = halves;
    }
}

/// The integrals of gradients over a part of the path, from their values at its nodes. `[position, d_model]`
fn integrate(gradient: &[Lanes], width: f64, d_model: usize, areas: &mut [f64]) {
    let rows = gradient.chunks_exact(padded(d_model));
    for (areas, row) in areas.chunks_exact_mut(d_model).zip(rows) {
        for (area, slopes) in areas.iter_mut().zip(row) {
            let terms = WEIGHTS.iter().zip(slopes);
            let sum: f64 = terms
                .map(|(weight, &slope)| weight * f64::from(slope))
                .sum();
            *area = sum * width;
        }
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

impl Hook for Path<'_> {
    fn visit(&mut self, point: HookPoint, values: &mut [Lanes]) {
        if point != HookPoint::Vectors(Array::Embeddings, 0) {
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
