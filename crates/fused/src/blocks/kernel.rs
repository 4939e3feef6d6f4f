//! The sizes that parts of a pass use, and how they compute with parameters.

use headlight_architecture::{NormKind, NormPlace};

use super::elements::shift;
use crate::architecture::Architecture;
use crate::instructions::Instructions;
use crate::lanes::Lanes;
use crate::places::{Linear, Matrix, padded};
use crate::products::{Grid, Target, multiply};

/// The sizes that parts of a pass use, and how they compute with parameters.
#[derive(Clone, Copy)]
pub(super) struct Kernel<'a> {
    pub(super) set: Instructions,
    pub(super) parameters: &'a [f32],
    /// The positions that are computed: all, or those up to the last one that is not padding.
    pub(super) p: usize,
    pub(super) d: usize,
    /// Padded `d_model`.
    pub(super) width: usize,
    /// Padded `d_ff`.
    pub(super) ff_width: usize,
    pub(super) heads: usize,
    pub(super) d_head: usize,
    /// Padded width of all heads together.
    pub(super) inner: usize,
    /// The factor of the products of queries and keys.
    pub(super) scale: f32,
    /// Where blocks have norms, and what these compute.
    pub(super) norm: NormPlace,
    pub(super) is_rms: bool,
    pub(super) eps: f32,
}

impl<'a> Kernel<'a> {
    pub(super) fn new(
        architecture: &Architecture,
        set: Instructions,
        parameters: &'a [f32],
    ) -> Self {
        let model = &architecture.model;
        Self {
            set,
            parameters,
            p: architecture.inputs.positions,
            d: model.d_model,
            width: padded(model.d_model),
            ff_width: padded(model.d_ff),
            heads: model.n_heads,
            d_head: model.d_head(),
            inner: padded(architecture.heads_width()),
            scale: architecture.scale(),
            norm: model.norm,
            is_rms: model.norm_kind == NormKind::Rms,
            eps: model.layer_norm_eps as f32,
        }
    }

    /// The numbers of a matrix.
    pub(super) fn numbers(self, matrix: Matrix) -> &'a [f32] {
        &self.parameters[matrix.range()]
    }

    /// `output = input W + b`, for as many rows as `input` has.
    pub(super) fn apply<const L: usize>(
        self,
        linear: Linear,
        input: &[Lanes<L>],
        output: &mut [Lanes<L>],
    ) {
        let into = Target::of(output, linear.weight.stride).from(self.numbers(linear.bias));
        self.project(linear, input, into);
    }

    /// `output = stream + input W + b`, for as many rows as `stream` has.
    pub(super) fn add_applied<const L: usize>(
        self,
        linear: Linear,
        stream: &[Lanes<L>],
        input: &[Lanes<L>],
        output: &mut [Lanes<L>],
    ) {
        let (bias, stride) = (self.numbers(linear.bias), linear.weight.stride);
        let input = &input[..stream.len() / stride * linear.weight.padded_rows];
        shift(self.set, stream, bias, &mut output[..stream.len()], stride);
        self.project(linear, input, Target::of(output, stride).on_top(true));
    }

    fn project<const L: usize>(self, linear: Linear, input: &[Lanes<L>], into: Target<'_, L>) {
        let Matrix {
            rows,
            padded_rows,
            stride,
            ..
        } = linear.weight;
        let weights = Grid::Numbers(self.numbers(linear.weight), stride);
        let sizes = [input.len() / padded_rows, rows, stride];
        multiply(self.set, sizes, Grid::Of(input, padded_rows), weights, into);
    }

    /// From the gradient of `x W + b` to that of `x`, for as many rows as the gradient has. If `is_added`, it is added to what
    /// the output holds.
    pub(super) fn back<const L: usize>(
        self,
        linear: Linear,
        gradient: &[Lanes<L>],
        output: &mut [Lanes<L>],
        is_added: bool,
    ) {
        let Matrix {
            columns,
            padded_rows,
            stride,
            ..
        } = linear.weight;
        multiply(
            self.set,
            [gradient.len() / stride, columns, padded_rows],
            Grid::Of(gradient, stride),
            Grid::NumbersTransposed(self.numbers(linear.weight), stride),
            Target::of(output, padded_rows).on_top(is_added),
        );
    }
}
