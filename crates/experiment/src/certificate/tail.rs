//! What follows attention: from the residual stream of the position that is read to the logits.

use headlight_architecture::Activation;

use super::activation::{BEND, STEEPEST, slope, value};
use super::linear::{Linear, Slope, Vector};
use super::norm::{Norm, Normalized};
use super::rounding::OF_ACTIVATION;

/// What follows attention, stage by stage.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    pub(super) stages: Vec<Stage>,
    pub(super) classifier: Linear,
}

/// A stage.
#[derive(Clone, Debug)]
pub(super) enum Stage {
    Norm(Norm),
    /// `x + f(n W_1 + b_1) W_2 + b_2`, where `n` is `x` or its norm.
    FeedForward(Option<Norm>, Hidden, Linear),
    /// The classifier's hidden layer.
    Hidden(Hidden),
}

/// `f(x W + b)`.
#[derive(Clone, Debug)]
pub(super) struct Hidden {
    pub(super) linear: Linear,
    pub(super) activation: Activation,
}

/// What a stage keeps for the backward pass.
#[derive(Clone, Debug, Default)]
struct Kept {
    normalized: Normalized,
    /// Each input of the activation, and its radius; and how far all of them go.
    inputs: Vec<(f64, f64)>,
    ball: f64,
}

/// Memory of passes.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    kept: Vec<Kept>,
    /// The input, then what stages make of it.
    pub(super) x: Vector,
    own: Vector,
    hidden: Vector,
    pub(super) logits: Vector,
    /// The logits of plain numbers; the sums over positions, and the vector that is read, which they come from.
    pub(super) values: Vec<f64>,
    pub(super) sums: Vec<f64>,
    pub(super) read: Vec<f64>,
    hidden_values: Vec<f64>,
    /// The slope of a difference of logits by the input.
    pub(super) slope: Slope,
    by_hidden: Slope,
    by_own: Slope,
}

impl Hidden {
    fn value(&self, x: &[f64], out: &mut Vec<f64>) {
        self.linear.value(x, out);
        for out in out {
            *out = value(self.activation, *out);
        }
    }

    fn forward(&self, x: &Vector, out: &mut Vector, kept: &mut Kept) {
        self.linear.forward(x, out);
        kept.inputs.clear();
        kept.ball = out.ball;
        for o in 0..out.len() {
            let (middle, radius) = (out.middle[o], out.radius[o]);
            kept.inputs.push((middle, radius));
            let size = middle.abs() + radius;
            out.middle[o] = value(self.activation, middle);
            out.radius[o] = radius * STEEPEST;
            out.error[o] = STEEPEST * out.error[o] + OF_ACTIVATION * size;
            out.size[o] = out.middle[o].abs() + out.radius[o] + out.error[o];
        }
        out.ball *= STEEPEST;
    }

    /// The slope by the input, from `slope` by the output, which it changes.
    fn backward(&self, kept: &Kept, slope_by: &mut Slope, out: &mut Slope) {
        let (mut bends, mut jumps, mut largest) = (0.0, 0.0, 0.0_f64);
        for (own, &(middle, radius)) in slope_by.middle.iter_mut().zip(&kept.inputs) {
            let bend = own.abs() * BEND * radius;
            bends += bend * bend;
            if middle.abs() <= radius {
                jumps += *own * *own;
            }
            largest = largest.max(own.abs());
            *own *= slope(self.activation, middle);
        }
        slope_by.smooth *= STEEPEST;
        slope_by.rough *= STEEPEST;
        if self.activation == Activation::Relu {
            slope_by.rough += f64::sqrt(jumps);
        } else {
            slope_by.smooth += f64::sqrt(bends).min(BEND * kept.ball * largest);
        }
        self.linear.backward(slope_by, out);
    }
}

impl Tail {
    /// The logits of plain numbers, in `scratch.values`.
    pub(super) fn value(&self, x: &[f64], scratch: &mut Scratch) {
        let Scratch {
            x: stream,
            own,
            hidden,
            values,
            hidden_values,
            ..
        } = scratch;
        let (x, input) = (&mut stream.middle, x);
        x.clear();
        x.extend_from_slice(input);
        for stage in &self.stages {
            match stage {
                Stage::Norm(norm) => norm.value(x),
                Stage::FeedForward(norm, layer, output) => {
                    own.middle.clone_from(x);
                    if let Some(norm) = norm {
                        norm.value(&mut own.middle);
                    }
                    layer.value(&own.middle, hidden_values);
                    output.value(hidden_values, &mut hidden.middle);
                    for (x, add) in x.iter_mut().zip(&hidden.middle) {
                        *x += add;
                    }
                }
                Stage::Hidden(layer) => {
                    layer.value(x, hidden_values);
                    core::mem::swap(x, hidden_values);
                }
            }
        }
        self.classifier.value(x, values);
    }

    /// From `scratch.x` to `scratch.logits`.
    pub(super) fn forward(&self, scratch: &mut Scratch) {
        let Scratch {
            kept,
            x,
            own,
            hidden,
            logits,
            ..
        } = scratch;
        kept.resize_with(self.stages.len(), Kept::default);
        for (stage, kept) in self.stages.iter().zip(kept) {
            match stage {
                Stage::Norm(norm) => norm.forward(x, &mut kept.normalized),
                Stage::FeedForward(norm, layer, output) => {
                    own.clone_from(x);
                    if let Some(norm) = norm {
                        norm.forward(own, &mut kept.normalized);
                    }
                    layer.forward(own, hidden, kept);
                    output.forward(hidden, own);
                    x.add(own);
                }
                Stage::Hidden(layer) => {
                    layer.forward(x, hidden, kept);
                    core::mem::swap(x, hidden);
                }
            }
        }
        self.classifier.forward(x, logits);
    }

    /// The slope of `Σ weights · logits` by the input of the last forward pass, in `scratch.slope`.
    pub(super) fn backward(&self, weights: &[f64], scratch: &mut Scratch) {
        let Scratch {
            kept,
            slope,
            by_hidden,
            by_own,
            ..
        } = scratch;
        by_own.middle.clear();
        by_own.middle.extend_from_slice(weights);
        (by_own.smooth, by_own.rough) = (0.0, 0.0);
        self.classifier.backward(by_own, slope);
        for (stage, kept) in self.stages.iter().zip(kept).rev() {
            match stage {
                Stage::Norm(norm) => norm.backward(&kept.normalized, slope),
                Stage::FeedForward(norm, layer, output) => {
                    output.backward(slope, by_hidden);
                    layer.backward(kept, by_hidden, by_own);
                    if let Some(norm) = norm {
                        norm.backward(&kept.normalized, by_own);
                    }
                    for (own, other) in slope.middle.iter_mut().zip(&by_own.middle) {
                        *own += other;
                    }
                    slope.smooth += by_own.smooth;
                    slope.rough += by_own.rough;
                }
                Stage::Hidden(layer) => {
                    by_own.clone_from(slope);
                    layer.backward(kept, by_own, slope);
                }
            }
        }
    }
}
