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

use headlight_architecture::NormPlace;

use super::elements::add;
use super::hidden::{activate, through_activation};
use super::norm;
use super::pass::Pass;
use super::probe::{Site, reach};
use super::values::block_and_input;
use crate::arrays::Array;

impl<const L: usize> Pass<'_, L> {
    /// With the norm first, normalises a block's input.
    pub(super) fn start_block(&mut self, layer: usize) {
        let (k, place) = (self.kernel, self.places.blocks[layer]);
        let values = &mut *self.values;
        let (block, input) = block_and_input(&mut values.blocks, &values.embeddings, layer);
        if let (NormPlace::Pre, Some(place)) = (k.norm, place.norm) {
            let input = &input[..k.p * k.width];
            norm::normalize(k, &mut block.attended.norm, Some(input), k.p, place);
        }
    }

    /// From the contexts of some rows to the block's output, from the first row on.
    pub(super) fn finish_block(&mut self, layer: usize, rows: &Range<usize>) {
        let (k, place) = (self.kernel, self.places.blocks[layer]);
        let activation = self.architecture.model.activation;
        let (count, all) = (rows.len(), rows.len() * k.width);
        let values = &mut *self.values;
        let (block, input) = block_and_input(&mut values.blocks, &values.embeddings, layer);
        let input = &input[rows.start * k.width..][..all];

        let residual = block.attended.sum_mut();
        k.add_applied(place.output, input, &block.context, residual);
        let site = Site::Vectors(Array::Residual, layer);
        reach(&mut self.probe, site, residual);
        if let (NormPlace::Post, Some(place)) = (k.norm, place.norm) {
            norm::normalize(k, &mut block.attended.norm, None, count, place);
        }

        let Some(place) = place.feed_forward else {
            return;
        };
        let input = &block.attended.output()[..all];
        if let (NormPlace::Pre, Some(place)) = (k.norm, place.norm) {
            norm::normalize(k, &mut block.fed.norm, Some(input), count, place);
        }
        let source = &block.fed.source(input)[..all];
        k.apply(place.hidden, source, &mut block.hidden.output);
        activate(k.set, activation, &mut block.hidden, count * k.ff_width);
        let site = Site::Vectors(Array::FeedForwardHidden, layer);
        reach(&mut self.probe, site, &mut block.hidden.output);
        let residual = block.fed.sum_mut();
        k.add_applied(place.output, input, &block.hidden.output, residual);
        let site = Site::Vectors(Array::FeedForwardResidual, layer);
        reach(&mut self.probe, site, residual);
        if let (NormPlace::Post, Some(place)) = (k.norm, place.norm) {
            norm::normalize(k, &mut block.fed.norm, None, count, place);
        }
    }

    /// From the gradient of a block's output in `d_stream` to those of its contexts and, in `d_residual`, of the
    /// residual.
    pub(super) fn through_finish(&mut self, layer: usize, count: usize) {
        let (k, place) = (self.kernel, self.places.blocks[layer]);
        let (values, gradients) = (&mut *self.values, &mut self.gradients);
        let (block, all) = (&values.blocks[layer], count * k.width);
        let gradient = &mut values.d_stream[..all];
        if let Some(place) = place.feed_forward {
            if let (NormPlace::Post, Some(place)) = (k.norm, place.norm) {
                norm::through(k, &block.fed.norm, place, gradient, gradients);
            }
            // Now of the residual: through W_2, the activation and W_1, and past them.
            let d_hidden = &mut values.d_hidden[..count * k.ff_width];
            k.back(place.output, gradient, d_hidden, false);
            let activation = self.architecture.model.activation;
            through_activation(k.set, activation, &block.hidden, d_hidden);
            gradients.input(&block.hidden.output[..count * k.ff_width], k.ff_width);
            gradients.linear(gradient, place.output);
            let source = block.fed.source(block.attended.output());
            gradients.input(&source[..all], k.width);
            gradients.linear(d_hidden, place.hidden);
            if let (NormPlace::Pre, Some(norm)) = (k.norm, place.norm) {
                let d_source = &mut values.d_source[..all];
                k.back(place.hidden, d_hidden, d_source, false);
                norm::through(k, &block.fed.norm, norm, d_source, gradients);
                add(k.set, gradient, d_source);
            } else {
                k.back(place.hidden, d_hidden, gradient, true);
            }
        }
        if let (NormPlace::Post, Some(place)) = (k.norm, place.norm) {
            norm::through(k, &block.attended.norm, place, gradient, gradients);
        }
        k.back(place.output, gradient, &mut values.d_context, false);
        gradients.input(&block.context[..count * k.inner], k.inner);
        gradients.linear(gradient, place.output);
        values.d_residual[..all].copy_from_slice(gradient);
    }

    /// The gradient of attention's input before attention has added to it: that of the residual of some rows, unless a norm
    /// is between the two.
    pub(super) fn start_stream(&mut self, rows: &Range<usize>) {
        let (k, values) = (self.kernel, &mut *self.values);
        let stream = &mut values.d_stream[..k.p * k.width];
        let is_pre = k.norm == NormPlace::Pre;
        if is_pre || rows.len() < k.p {
            stream.fill([0.0; L]);
        }
        if !is_pre {
            let own = rows.start * k.width..rows.end * k.width;
            stream[own.clone()].copy_from_slice(&values.d_residual[..own.len()]);
        }
    }

    /// With the norm first, from the gradient of attention's input in `d_stream` to that of the block's.
    pub(super) fn through_first_norm(&mut self, layer: usize, rows: &Range<usize>) {
        let (k, values) = (self.kernel, &mut *self.values);
        if let (NormPlace::Pre, Some(place)) = (k.norm, self.places.blocks[layer].norm) {
            let stream = &mut values.d_stream[..k.p * k.width];
            let norm = &values.blocks[layer].attended.norm;
            norm::through(k, norm, place, stream, &mut self.gradients);
            let own = rows.start * k.width..rows.end * k.width;
            let residual = &values.d_residual[..own.len()];
            add(k.set, &mut stream[own], residual);
        }
    }
}
