//! What follows attention: from the residual stream of the position that is read to the logits.

use headlight_architecture::Activation;

use super::activation::{STEEPEST, rest, slope, value};
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
    /// Each input of the activation, and how far the output can be off its slope.
    inputs: Vec<f64>,
    rests: Vec<f64>,
    /// What the engine's output is off by; and within the stage: the norm, the activation's input, its output.
    rounding: Vec<f64>,
    of_norm: Vec<f64>,
    of_input: Vec<f64>,
    of_output: Vec<f64>,
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
    /// What the engine's input is off by.
    of_input: Vec<f64>,
}

impl Hidden {
    fn value(&self, x: &[f64], out: &mut Vec<f64>) {
        self.linear.value(x, out);
        for out in out {
            *out = value(self.activation, *out);
        }
    }

    fn forward(&self, x: &Vector, reach: f64, out: &mut Vector, kept: &mut Kept) {
        self.linear.forward(x, out);
        out.settle(&mut kept.of_input);
        out.tighten(reach);
        kept.inputs.clear();
        kept.rests.clear();
        let width = (out.slopes.len() / out.len().max(1)).max(1);
        let (mut rests, mut steepest) = (0.0, 0.0_f64);
        for o in 0..out.len() {
            let (middle, radius) = (out.middle[o], out.radius[o]);
            let rest = rest(self.activation, middle, radius);
            kept.inputs.push(middle);
            kept.rests.push(rest);
            let slope = slope(self.activation, middle);
            steepest = steepest.max(slope.abs());
            rests += rest * rest;
            for own in out.slopes.iter_mut().skip(o * width).take(width) {
                *own *= slope;
            }
            let size = middle.abs() + radius;
            out.middle[o] = value(self.activation, middle);
            out.radius[o] = (radius * STEEPEST).min(radius * slope.abs() + rest);
            out.error[o] = STEEPEST * out.error[o] + OF_ACTIVATION * size;
            out.size[o] = out.largest(o);
        }
        out.rest = steepest * out.rest + f64::sqrt(rests);
        out.ball *= STEEPEST;
        out.settle(&mut kept.of_output);
        out.tighten(reach);
    }

    /// The slope by the input, from `by_output`, which it changes.
    fn backward(&self, kept: &Kept, by_output: &mut Slope, out: &mut Slope) {
        by_output.add_rests(&kept.rests);
        by_output.add_rests(&kept.of_output);
        for (own, &middle) in by_output.middle.iter_mut().zip(&kept.inputs) {
            *own *= slope(self.activation, middle);
        }
        by_output.add_rests(&kept.of_input);
        self.linear.backward(by_output, out);
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

    /// From `scratch.x`, which goes as far as `scratch.x.ball`, to `scratch.logits`. `turned` is how long a way can be once a matrix has
    /// turned it. `[number, way]`
    pub(super) fn forward(&self, scratch: &mut Scratch, mut turned: impl FnMut(&[f64]) -> f64) {
        let Scratch {
            kept,
            x,
            own,
            hidden,
            logits,
            of_input,
            ..
        } = scratch;
        let reach = x.ball;
        // Slopes serve the bounds of a second stage.
        let width = if self.stages.len() > 1 { x.len() } else { 0 };
        x.slopes.clear();
        x.slopes.extend(
            (0..x.len() * width).map(|index| f64::from(u8::from(index.is_multiple_of(width + 1)))),
        );
        x.rest = 0.0;
        x.settle(of_input);
        kept.resize_with(self.stages.len(), Kept::default);
        for (index, (stage, kept)) in self.stages.iter().zip(kept).enumerate() {
            match stage {
                Stage::Norm(norm) => {
                    if index > 0 {
                        x.ball = x.ball.min(turned(&x.slopes) + x.rest);
                    }
                    norm.forward(x, reach, &mut kept.normalized);
                }
                Stage::FeedForward(norm, layer, output) => {
                    own.clone_from(x);
                    if let Some(norm) = norm {
                        norm.forward(own, reach, &mut kept.normalized);
                        own.settle(&mut kept.of_norm);
                    }
                    layer.forward(own, reach, hidden, kept);
                    output.forward(hidden, own);
                    x.add(own, hidden.len() + 2);
                }
                Stage::Hidden(layer) => {
                    layer.forward(x, reach, hidden, kept);
                    core::mem::swap(x, hidden);
                }
            }
            x.settle(&mut kept.rounding);
        }
        self.classifier.forward(x, logits);
    }

    /// The slope of `Σ weights · logits` by the input of the last forward pass, in `scratch.slope`.
    ///
    /// A stage's output is its slope times the way of its input, and a rest. So a number is the slope of all stages times the first
    /// way, and each rest times the slopes of the stages after it, all of them slopes in the middle.
    pub(super) fn backward(&self, weights: &[f64], scratch: &mut Scratch) {
        let Scratch {
            kept,
            slope,
            by_hidden,
            by_own,
            of_input,
            ..
        } = scratch;
        by_own.middle.clear();
        by_own.middle.extend_from_slice(weights);
        by_own.rest = 0.0;
        self.classifier.backward(by_own, slope);
        for (stage, kept) in self.stages.iter().zip(kept).rev() {
            slope.add_rests(&kept.rounding);
            match stage {
                Stage::Norm(norm) => norm.backward(&kept.normalized, slope),
                Stage::FeedForward(norm, layer, output) => {
                    output.backward(slope, by_hidden);
                    layer.backward(kept, by_hidden, by_own);
                    if let Some(norm) = norm {
                        by_own.add_rests(&kept.of_norm);
                        norm.backward(&kept.normalized, by_own);
                    }
                    for (own, other) in slope.middle.iter_mut().zip(&by_own.middle) {
                        *own += other;
                    }
                    slope.rest = by_own.rest;
                }
                Stage::Hidden(layer) => {
                    by_own.clone_from(slope);
                    layer.backward(kept, by_own, slope);
                }
            }
        }
        slope.add_rests(&*of_input);
    }
}
