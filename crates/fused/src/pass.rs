//! One pass: some samples, one per lane, through the layers to their losses, and the gradient of these back.
//!
//! To follow a training step, start here. [`Model::step`](crate::Model::step) asks `engine.rs` for the gradient of a batch,
//! or `notebook`, if that computes the model, as it does that of the default config. `engine.rs` divides the batch into
//! chunks of eight or sixteen samples and lets [`Pass::train`] compute each. `gradients` sums what the passes hand to it, in
//! the order of the samples; `optimizer.rs` then changes the parameters.
//!
//! `dy` stands for the gradient of the loss by `y`. Each layer's file in `layers` has its formulas, forward and
//! backward. Where the classifier reads one position, the last layer computes the row of that position alone.

use std::ops::Range;

use headlight_architecture::{ProjectionKind, Readout};

use crate::architecture::Architecture;
use crate::arrays::Array;
use crate::chunk::Chunk;
use crate::dropout::StepDropout;
use crate::gradients::{GradientPart, Gradients, MAX_PASSES_TOGETHER, Terms};
use crate::hook::{Hook, HookPoint};
use crate::kernel::Kernel;
use crate::parameters::ParameterLayout;
use crate::samples::{BatchPredictions, IGNORED};
use crate::training::CrossEntropy;
use crate::values::Values;

/// What all passes of a model share.
#[derive(Clone, Debug)]
pub(crate) struct PassPlan {
    pub(crate) architecture: Architecture,
    pub(crate) layout: ParameterLayout,
    pub(crate) cross_entropy: CrossEntropy,
    /// Of the step that is computed.
    pub(crate) dropout: StepDropout,
}

impl PassPlan {
    /// Whether a pass adds to some parameters more than once: to projections that queries, keys and values share, where keys and
    /// values are not computed. Then the additions of eight samples must be done before those of the next, so that sums keep
    /// their order.
    pub(crate) fn adds_repeatedly(&self) -> bool {
        let is_shared = self.architecture.model.attention.projections == ProjectionKind::Shared;
        is_shared && self.architecture.folds_keys()
    }

    /// The passes whose terms may be added together.
    pub(crate) fn passes_together(&self) -> usize {
        let is_alone = self.adds_repeatedly();
        if is_alone { 1 } else { MAX_PASSES_TOGETHER }
    }
}

/// A pass of up to `L` samples with one set of parameters.
pub(crate) struct Pass<'a, const L: usize> {
    pub(crate) architecture: &'a Architecture,
    pub(crate) layout: &'a ParameterLayout,
    pub(crate) cross_entropy: CrossEntropy,
    pub(crate) kernel: Kernel<'a>,
    /// The positions that are computed: all, or those up to the last one that a sample holds.
    pub(crate) positions: usize,
    pub(crate) values: &'a mut Values<L>,
    pub(crate) gradients: Gradients<'a>,
    /// Reads and replaces values of a forward pass of all rows.
    pub(crate) hook: Option<&'a mut dyn Hook<L>>,
    /// Whether the backward pass takes the attention weights as given, so that nothing flows back through the scores.
    pub(crate) holds_weights: bool,
    /// What is left out; nothing but in training.
    pub(crate) dropout: StepDropout,
}

impl<'a, const L: usize> Pass<'a, L> {
    pub(crate) fn new(
        plan: &'a PassPlan,
        kernel: Kernel<'a>,
        values: &'a mut Values<L>,
        terms: &'a mut Terms,
        part: GradientPart<'a>,
    ) -> Self {
        let isa = kernel.isa;
        Self {
            architecture: &plan.architecture,
            layout: &plan.layout,
            cross_entropy: plan.cross_entropy,
            kernel,
            positions: plan.architecture.inputs.positions,
            values,
            gradients: Gradients { isa, terms, part },
            hook: None,
            holds_weights: false,
            dropout: StepDropout::default(),
        }
    }

    /// Adds the gradient of the chunk's losses, each of which counts as the share of its sample, and keeps the losses.
    pub(crate) fn train(
        &mut self,
        dropout: StepDropout,
        chunk: Chunk<'_>,
        share: f32,
        losses: &mut Vec<f32>,
    ) {
        self.dropout = dropout.of_samples_from(chunk.first);
        self.forward(chunk, false);
        let shares = self.shares_of_answers(chunk);
        let lanes = shares[..chunk.chosen.len()].iter().enumerate();
        losses.extend(lanes.map(|(lane, per_answer)| self.training_loss(chunk, lane) * per_answer));
        self.backward_losses(chunk, shares.map(|per_answer| per_answer * share));
        self.backward();
        self.backward_embedding_norm();
        self.backward_embeddings(chunk);
    }

    /// Appends the predictions for the chunk.
    pub(crate) fn predict(&mut self, chunk: Chunk<'_>, predictions: &mut BatchPredictions) {
        self.forward(chunk, false);
        self.append(
            chunk,
            self.architecture.readout != Readout::Position,
            predictions,
        );
    }

    /// From tokens to losses. If `whole`, the last layer computes all rows.
    pub(crate) fn forward(&mut self, chunk: Chunk<'_>, whole: bool) {
        if !whole && self.hook.is_none() {
            self.positions = self.held_positions(chunk);
        }
        self.embed(chunk);
        self.fill_mask(chunk);
        let last = self.architecture.model.n_layers - 1;
        for layer in 0..=last {
            let rows = self.rows_of(layer, whole);
            self.normalize_input(layer);
            self.hook
                .visit(HookPoint::Mask(layer), &mut self.values.mask.allowed);
            if layer == last && !whole && self.architecture.folds_keys() {
                self.attend_from_read_row(layer);
            } else {
                self.attend(layer, rows.clone());
            }
            self.project_context(layer, rows.clone());
            self.feed_forward(layer, rows.len());
            let output = self.values.layers[layer].output_mut();
            self.hook
                .visit(HookPoint::Vectors(Array::Output, layer), output);
        }
        self.average_positions(chunk);
        self.read(self.rows_of(last, whole));
        self.classify();
        self.compute_losses(chunk);
    }

    /// Adds the gradient of all parameters but the embeddings, from that of the logits in `d_logits`; leaves that of the first
    /// layer's input in `d_layer.stream`. The forward pass of the same chunk must have run before, and not `whole`.
    pub(crate) fn backward(&mut self) {
        self.backward_classifier();
        self.backward_read();
        let last = self.architecture.model.n_layers - 1;
        for layer in (0..=last).rev() {
            let rows = self.rows_of(layer, false);
            self.backward_feed_forward(layer, rows.len());
            self.backward_context(layer, rows.len());
            if layer == last && self.architecture.folds_keys() {
                self.backward_read_row(layer);
            } else {
                self.backward_attention(layer, rows.clone());
                self.backward_projections(layer, rows.clone());
            }
            self.backward_input_norm(layer, rows);
        }
    }

    /// The rows that a layer computes: all, or of the last layer those that the classifier reads.
    pub(crate) fn rows_of(&self, layer: usize, whole: bool) -> Range<usize> {
        if layer < self.architecture.model.n_layers - 1 || whole {
            0..self.positions
        } else {
            self.architecture.last_rows(self.positions)
        }
    }

    /// The positions that some sample holds. What follows has no weight in any sum.
    fn held_positions(&self, chunk: Chunk<'_>) -> usize {
        let lanes = 0..chunk.chosen.len();
        match lanes.map(|lane| self.held_by(chunk, lane)).max() {
            None | Some(0) => self.architecture.inputs.positions,
            Some(held) => held,
        }
    }

    /// The positions of a sample up to the last one that holds no padding, that is read, or whose label counts.
    pub(crate) fn held_by(&self, chunk: Chunk<'_>, lane: usize) -> usize {
        let (inputs, readout) = (self.architecture.inputs, self.architecture.readout);
        let Some(padding) = self.architecture.model.attention.padding_token else {
            return inputs.positions;
        };
        let is_held = |&position: &usize| match readout {
            _ if chunk.token(lane, position) != padding => true,
            Readout::Position | Readout::Mean => position == inputs.read_position,
            Readout::Every => chunk.label(lane, position, inputs.positions) != IGNORED,
        };
        let last = (0..inputs.positions).rev().find(is_held);
        last.map_or(0, |last| last + 1)
    }
}
