//! What stands around attention and in the feed-forward layer of a block: norms, residual additions, and the hidden layer.
//!
//! ```text
//! norm after (post):   y = norm(x + c W_o + b_o),   y' = norm(y + f(y W_1 + b_1) W_2 + b_2)
//! norm before (pre):   y = x + c W_o + b_o,         y' = y + f(n W_1 + b_1) W_2 + b_2,   n = norm(y); c is made from norm(x)
//! no norm:             y = x + c W_o + b_o,         y' = y + f(y W_1 + b_1) W_2 + b_2
//! ```
//!
//! `c` is the context, `f` the activation. The derivatives of norms are in `norm.rs`, those of activations in
//! `functions.rs`; a projection `y = x W + b` gives `dx = dy W^T`, and, summed over positions and samples,
//! `dW = Σ x ⊗ dy` and `db = Σ dy`.

use std::ops::Range;

use super::additions::Additions;
use super::elements::{add, shift};
use super::hidden::{activate, through_activation};
use super::norm;
use super::pass::{Pass, Sizes, apply, weights_of};
use super::probe::{Site, reach};
use super::products::{project, project_back};
use super::values::{NormValues, block_mut_and_input};
use crate::adam::Sums;
use crate::arrays::Array;
use crate::instructions::Instructions;
use crate::lanes::Lanes;
use crate::places::{Linear, Norm, padded};
use headlight_architecture::{NormKind, NormPlace};

impl<const L: usize> Pass<'_, L> {
    /// With the norm first, normalises a block's input.
    pub(super) fn start_block(&mut self, layer: usize) {
        let Sizes { p, width, .. } = self.sizes();
        let norms = self.norms();
        let (place, ..) = self.of_block(layer);
        let values = &mut *self.values;
        let (block, input) = block_mut_and_input(&mut values.blocks, &values.embeddings, layer);
        if let (NormPlace::Pre, Some(place)) = (norms.place, place.norm) {
            norms.normalize(
                &mut block.attended.norm,
                Some(&input[..p * width]),
                p,
                place,
            );
        }
    }

    /// From the contexts of some rows to the block's output, from the first row on.
    pub(super) fn finish_block(&mut self, layer: usize, rows: &Range<usize>) {
        let Sizes { width, inner, .. } = self.sizes();
        let norms = self.norms();
        let (place, parameters, set) = self.of_block(layer);
        let (activation, ff_width) = (
            self.architecture.model.activation,
            padded(self.architecture.model.d_ff),
        );
        let (count, all) = (rows.len(), rows.len() * width);
        let values = &mut *self.values;
        let (block, input) = block_mut_and_input(&mut values.blocks, &values.embeddings, layer);
        let input = &input[rows.start * width..][..all];

        let residual = block.attended.sum_mut();
        add_projected(
            set,
            parameters,
            place.output,
            input,
            &block.context,
            inner,
            residual,
        );
        let site = Site::Vectors(Array::Residual, layer);
        reach(&mut self.probe, site, residual);
        if let (NormPlace::Post, Some(place)) = (norms.place, place.norm) {
            norms.normalize(&mut block.attended.norm, None, count, place);
        }

        let Some(place) = place.feed_forward else {
            return;
        };
        let input = &block.attended.output()[..all];
        if let (NormPlace::Pre, Some(place)) = (norms.place, place.norm) {
            norms.normalize(&mut block.fed.norm, Some(input), count, place);
        }
        let source = &block.fed.source(input)[..all];
        apply(
            set,
            parameters,
            place.hidden,
            count,
            source,
            width,
            &mut block.hidden.output,
        );
        activate(set, activation, &mut block.hidden, count * ff_width);
        let site = Site::Vectors(Array::FeedForwardHidden, layer);
        reach(&mut self.probe, site, &mut block.hidden.output);
        let residual = block.fed.sum_mut();
        let hidden = &block.hidden.output;
        add_projected(
            set,
            parameters,
            place.output,
            input,
            hidden,
            ff_width,
            residual,
        );
        let site = Site::Vectors(Array::FeedForwardResidual, layer);
        reach(&mut self.probe, site, residual);
        if let (NormPlace::Post, Some(place)) = (norms.place, place.norm) {
            norms.normalize(&mut block.fed.norm, None, count, place);
        }
    }

    /// From the gradient of a block's output in `d_stream` to those of its contexts and, in `d_residual`, of the
    /// residual.
    pub(super) fn through_finish(&mut self, layer: usize, count: usize, sums: &mut Sums<'_>) {
        let Sizes {
            width, d, inner, ..
        } = self.sizes();
        let norms = self.norms();
        let (place, parameters, set) = self.of_block(layer);
        let (d_ff, ff_width) = (
            self.architecture.model.d_ff,
            padded(self.architecture.model.d_ff),
        );
        let all = count * width;
        let values = &mut *self.values;
        let block = &values.blocks[layer];
        let gradient = &mut values.d_stream[..all];
        if let Some(place) = place.feed_forward {
            if let (NormPlace::Post, Some(place)) = (norms.place, place.norm) {
                norms.through(
                    &block.fed.norm,
                    count,
                    place,
                    gradient,
                    (self.additions, sums),
                );
            }
            // Now of the residual: through W_2, the activation and W_1, and past them.
            let d_hidden = &mut values.d_hidden[..count * ff_width];
            let weights = weights_of(parameters, place.output);
            d_hidden.fill([0.0; L]);
            project_back(set, count, weights, 0..d, gradient, ff_width, d_hidden);
            through_activation(
                set,
                self.architecture.model.activation,
                &block.hidden,
                d_hidden,
            );
            let additions = &mut *self.additions;
            additions.input(set, &block.hidden.output[..count * ff_width], ff_width);
            additions.linear(set, gradient, width, place.output, sums);
            let input = block.attended.output();
            additions.input(set, &block.fed.source(input)[..all], width);
            additions.linear(set, d_hidden, ff_width, place.hidden, sums);
            let weights = weights_of(parameters, place.hidden);
            if let (NormPlace::Pre, Some(place)) = (norms.place, place.norm) {
                let d_source = &mut values.d_source[..all];
                d_source.fill([0.0; L]);
                project_back(set, count, weights, 0..d_ff, d_hidden, width, d_source);
                norms.through(
                    &block.fed.norm,
                    count,
                    place,
                    d_source,
                    (self.additions, sums),
                );
                add(set, gradient, d_source);
            } else {
                project_back(set, count, weights, 0..d_ff, d_hidden, width, gradient);
            }
        }
        if let (NormPlace::Post, Some(place)) = (norms.place, place.norm) {
            norms.through(
                &block.attended.norm,
                count,
                place,
                gradient,
                (self.additions, sums),
            );
        }
        let weights = weights_of(parameters, place.output);
        let d_context = &mut values.d_context[..count * inner];
        d_context.fill([0.0; L]);
        project_back(set, count, weights, 0..d, gradient, inner, d_context);
        let additions = &mut *self.additions;
        additions.input(set, &block.context[..count * inner], inner);
        additions.linear(set, gradient, width, place.output, sums);
        values.d_residual[..all].copy_from_slice(gradient);
    }

    /// The gradient of attention's input before attention has added to it: that of the residual of some rows, unless a norm
    /// is between the two.
    pub(super) fn start_stream(&mut self, rows: &Range<usize>) {
        let Sizes { p, width, .. } = self.sizes();
        let values = &mut *self.values;
        let stream = &mut values.d_stream[..p * width];
        let is_pre = self.architecture.model.norm == NormPlace::Pre;
        if is_pre || rows.len() < p {
            stream.fill([0.0; L]);
        }
        if !is_pre {
            let own = rows.start * width..rows.end * width;
            stream[own.clone()].copy_from_slice(&values.d_residual[..own.len()]);
        }
    }

    /// With the norm first, from the gradient of attention's input in `d_stream` to that of the block's.
    pub(super) fn through_first_norm(
        &mut self,
        layer: usize,
        rows: &Range<usize>,
        sums: &mut Sums<'_>,
    ) {
        let Sizes { p, width, .. } = self.sizes();
        let norms = self.norms();
        let (place, _, set) = self.of_block(layer);
        let values = &mut *self.values;
        if let (NormPlace::Pre, Some(place)) = (norms.place, place.norm) {
            let stream = &mut values.d_stream[..p * width];
            norms.through(
                &values.blocks[layer].attended.norm,
                p,
                place,
                stream,
                (self.additions, sums),
            );
            let own = rows.start * width..rows.end * width;
            let residual = &values.d_residual[..own.len()];
            add(set, &mut stream[own], residual);
        }
    }
}

/// `output = input + from W + b`, for as many rows as `input` has; rows of `from` have `width` numbers.
fn add_projected<const L: usize>(
    set: Instructions,
    parameters: &[f32],
    linear: Linear,
    input: &[Lanes<L>],
    from: &[Lanes<L>],
    width: usize,
    output: &mut [Lanes<L>],
) {
    let bias = &parameters[linear.bias.range()];
    let weights = weights_of(parameters, linear);
    let stride = weights.stride;
    shift(set, input, bias, &mut output[..input.len()], stride);
    let rows = input.len() / stride;
    project(set, rows, weights, 0..stride, from, width, output);
}

impl<'a, const L: usize> Pass<'a, L> {
    /// How this pass computes norms.
    pub(super) fn norms(&self) -> NormPass<'a> {
        NormPass {
            set: self.instructions,
            parameters: self.parameters,
            place: self.architecture.model.norm,
            is_rms: self.architecture.model.norm_kind == NormKind::Rms,
            eps: self.architecture.model.layer_norm_eps as f32,
            width: self.width(),
            d: self.architecture.model.d_model,
        }
    }
}

/// How a pass computes norms.
#[derive(Clone, Copy)]
pub(super) struct NormPass<'a> {
    set: Instructions,
    parameters: &'a [f32],
    place: NormPlace,
    is_rms: bool,
    eps: f32,
    width: usize,
    d: usize,
}

impl NormPass<'_> {
    /// Normalises the first rows of `input`, or those that the values of the norm already have.
    pub(super) fn normalize<const L: usize>(
        self,
        values: &mut NormValues<L>,
        input: Option<&[Lanes<L>]>,
        rows: usize,
        place: Norm,
    ) {
        if let Some(input) = input {
            values.normalized[..input.len()].copy_from_slice(input);
        }
        let [gamma, beta] = [place.gamma, place.beta].map(|place| &self.parameters[place.range()]);
        let Self {
            set,
            width,
            d,
            eps,
            is_rms,
            ..
        } = self;
        norm::forward(set, values, rows, width, gamma, beta, d, eps, is_rms);
    }

    /// From the gradient of a norm's output to that of its input, in place; adds that of its parameters.
    pub(super) fn through<const L: usize>(
        self,
        values: &NormValues<L>,
        rows: usize,
        place: Norm,
        gradient: &mut [Lanes<L>],
        (additions, sums): (&mut Additions, &mut Sums<'_>),
    ) {
        let (set, width) = (self.set, self.width);
        let places = [place.gamma, place.beta];
        additions.samples(set, L, places, sums, |samples| {
            norm::of_parameters(set, values, rows, width, gradient, samples);
        });
        let gamma = &self.parameters[place.gamma.range()];
        let (d, is_rms) = (self.d, self.is_rms);
        norm::backward(set, values, rows, width, gamma, d, gradient, is_rms);
    }
}
