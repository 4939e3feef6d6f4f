//! A layer's feed-forward part: `y = x + m ⊙ ((n ⊙ f(s W_1 + b_1)) W_2 + b_2)`, with the activation `f` and `s`, the input `x`
//! or its norm; `m` and `n` are masks of dropout.
//!
//! A projection `y = x W + b` gives `dx = dy W^T`, and, summed over positions and samples, `dW = Σ x ⊗ dy` and `db = Σ dy`.

use headlight_architecture::DropoutPlace;

use super::activation::{activate, backward_activation};
use super::elements::add;
use crate::arrays::Array;
use crate::dropout::DroppedRows;
use crate::hook::Hook;
use crate::hook::HookPoint::Vectors;
use crate::pass::Pass;

impl<const L: usize> Pass<'_, L> {
    /// From what attention gives on, for some rows, to the layer's output.
    pub(crate) fn feed_forward(&mut self, layer: usize, rows: usize) {
        let (k, activation) = (self.kernel, self.architecture.model.activation);
        let Some(slots) = self.layout.layers[layer].feed_forward else {
            return;
        };
        let [hidden_rows, output_rows] = self.dropped_rows(layer);
        let layer_values = &mut self.values.layers[layer];
        let input = &layer_values.after_attention.output()[..rows * k.sizes.width];
        layer_values
            .after_feed_forward
            .normalize_before(k, slots.norm, input);
        k.project(
            slots.hidden,
            &layer_values.after_feed_forward.source(input)[..input.len()],
            &mut layer_values.hidden.output,
        );
        activate(
            k.isa,
            activation,
            &mut layer_values.hidden,
            rows * slots.hidden.weight.stride,
        );
        self.hook.visit(
            Vectors(Array::FeedForwardHidden, layer),
            &mut layer_values.hidden.output,
        );
        let hidden = &mut layer_values.hidden.output[..rows * slots.hidden.weight.stride];
        self.dropout.apply(k.isa, hidden_rows, hidden);
        let residual = layer_values.after_feed_forward.residual_mut();
        self.dropout
            .project_onto(k, output_rows, slots.output, [input, hidden], residual);
        self.hook
            .visit(Vectors(Array::FeedForwardResidual, layer), residual);
        layer_values
            .after_feed_forward
            .normalize_after(k, slots.norm, rows);
    }

    /// The rows of which dropout leaves out values: hidden ones, and those that are added to the residual stream.
    fn dropped_rows(&self, layer: usize) -> [DroppedRows; 2] {
        [
            DropoutPlace::Hidden(layer),
            DropoutPlace::FeedForwardOutput(layer),
        ]
        .map(|place| self.rows_at(place))
    }

    /// In `d_layer.stream`, from the gradient of the layer's output to that of what attention gives on.
    pub(crate) fn backward_feed_forward(&mut self, layer: usize, rows: usize) {
        let (k, activation) = (self.kernel, self.architecture.model.activation);
        let Some(slots) = self.layout.layers[layer].feed_forward else {
            return;
        };
        let [hidden_rows, output_rows] = self.dropped_rows(layer);
        let (values, gradients) = (&mut *self.values, &mut self.gradients);
        let layer_values = &values.layers[layer];
        let (count, hidden_width) = (rows * k.sizes.width, slots.hidden.weight.stride);
        let gradient = &mut values.d_layer.stream[..count];
        layer_values
            .after_feed_forward
            .backward_after(k, slots.norm, gradient, gradients);
        // The residual passes its gradient to the input, and to W_2, the activation and W_1.
        let d_hidden = &mut values.d_layer.hidden[..rows * hidden_width];
        let mut d_added = &*gradient;
        if self.dropout.is_at(output_rows.place) {
            // Attention's residual has no gradient yet.
            let kept = &mut values.d_layer.residual[..count];
            kept.copy_from_slice(gradient);
            self.dropout.apply(k.isa, output_rows, kept);
            d_added = kept;
        }
        k.project_back(slots.output, d_added, d_hidden, false);
        let input = gradients.input(&layer_values.hidden.output[..d_hidden.len()], hidden_width);
        gradients.linear(input, d_added, slots.output);
        self.dropout.apply(k.isa, hidden_rows, d_hidden);
        backward_activation(k.isa, activation, &layer_values.hidden, d_hidden);
        let source = &layer_values
            .after_feed_forward
            .source(layer_values.after_attention.output())[..count];
        let input = gradients.input(source, k.sizes.width);
        gradients.linear(input, d_hidden, slots.hidden);
        if values.d_layer.source.is_empty() {
            k.project_back(slots.hidden, d_hidden, gradient, true);
        } else {
            let d_source = &mut values.d_layer.source[..count];
            k.project_back(slots.hidden, d_hidden, d_source, false);
            layer_values
                .after_feed_forward
                .backward_before(k, slots.norm, d_source, gradients);
            add(k.isa, gradient, d_source);
        }
    }
}
