//! The sizes of a pass, and how its layers compute with parameters.

use std::ops::Range;

use headlight_architecture::NormKind;

use crate::architecture::Architecture;
use crate::instructions::Instructions;
use crate::lanes::Lanes;
use crate::layers::elements::{scale, shift};
use crate::parameters::{Linear, Matrix, padded};
use crate::products::{Operand, Target, multiply};

/// The widths of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) d_model: usize,
    /// `d_model`, padded.
    pub(crate) width: usize,
    pub(crate) n_heads: usize,
    pub(crate) d_head: usize,
    /// The columns of all heads together, padded.
    pub(crate) heads_width: usize,
}

impl Sizes {
    pub(crate) fn of(architecture: &Architecture) -> Self {
        let model = &architecture.model;
        Self {
            d_model: model.d_model,
            width: padded(model.d_model),
            n_heads: model.n_heads,
            d_head: model.d_head(),
            heads_width: padded(architecture.heads_width()),
        }
    }

    /// The columns of a head among those of all heads.
    pub(crate) fn columns(self, head: usize) -> Range<usize> {
        head * self.d_head..(head + 1) * self.d_head
    }
}

/// The parameters of a pass, and the instructions that it computes with.
#[derive(Clone, Copy)]
pub(crate) struct Kernel<'a> {
    pub(crate) isa: Instructions,
    parameters: &'a [f32],
    pub(crate) sizes: Sizes,
    /// The factor of the products of queries and keys.
    pub(crate) scale: f32,
    /// What norms compute.
    pub(crate) norm_kind: NormKind,
    pub(crate) eps: f32,
}

impl<'a> Kernel<'a> {
    pub(crate) fn new(
        architecture: &Architecture,
        isa: Instructions,
        parameters: &'a [f32],
    ) -> Self {
        Self {
            isa,
            parameters,
            sizes: Sizes::of(architecture),
            scale: architecture.scale(),
            norm_kind: architecture.model.norm_kind,
            eps: architecture.model.layer_norm_eps as f32,
        }
    }

    /// The numbers of a matrix.
    #[inline(always)]
    pub(crate) fn numbers(self, matrix: Matrix) -> &'a [f32] {
        &self.parameters[matrix.range()]
    }

    /// `output = input W + b`, for as many rows as `input` has.
    pub(crate) fn project<const L: usize>(
        self,
        linear: Linear,
        input: &[Lanes<L>],
        output: &mut [Lanes<L>],
    ) {
        let into = Target::of(output, linear.weight.stride).from(self.numbers(linear.bias));
        self.multiply_by(linear.weight, input, into);
    }

    /// `output = stream + input W + b`, for as many rows as `stream` has.
    pub(crate) fn project_onto<const L: usize>(
        self,
        linear: Linear,
        stream: &[Lanes<L>],
        input: &[Lanes<L>],
        output: &mut [Lanes<L>],
    ) {
        let (bias, stride) = (self.numbers(linear.bias), linear.weight.stride);
        let input = &input[..stream.len() / stride * linear.weight.padded_rows];
        shift(self.isa, stream, bias, &mut output[..stream.len()], stride);
        let into = Target::of(output, stride).on_top(true);
        self.multiply_by(linear.weight, input, into);
    }

    fn multiply_by<const L: usize>(self, weight: Matrix, input: &[Lanes<L>], into: Target<'_, L>) {
        let (inputs, outputs) = (weight.padded_rows, weight.stride);
        let sizes = [input.len() / inputs, weight.rows, outputs];
        let numbers = Operand::Numbers(self.numbers(weight), outputs);
        self.multiply(sizes, Operand::Rows(input, inputs), numbers, into);
    }

    /// From the gradient of `x W + b` to that of `x`, for as many rows as the gradient has. If `is_added`, it is added to what
    /// the output holds.
    pub(crate) fn project_back<const L: usize>(
        self,
        Linear { weight, .. }: Linear,
        gradient: &[Lanes<L>],
        output: &mut [Lanes<L>],
        is_added: bool,
    ) {
        let (inputs, outputs) = (weight.padded_rows, weight.stride);
        let sizes = [gradient.len() / outputs, weight.columns, inputs];
        let numbers = Operand::NumbersTransposed(self.numbers(weight), outputs);
        let into = Target::of(output, inputs).on_top(is_added);
        self.multiply(sizes, Operand::Rows(gradient, outputs), numbers, into);
    }

    /// `x W` in the columns of a head, for a single row `x`; without a matrix, the row's own columns.
    pub(crate) fn project_head<const L: usize>(
        self,
        linear: Option<Linear>,
        head: usize,
        row: &[Lanes<L>],
        into: Target<'_, L>,
    ) {
        let (s, columns) = (self.sizes, self.sizes.columns(head));
        if let Some(linear) = linear {
            let numbers = &self.numbers(linear.weight)[columns.start..];
            let numbers = Operand::Numbers(numbers, s.heads_width);
            let (sizes, row) = ([1, s.d_model, s.d_head], Operand::Rows(row, s.width));
            self.multiply(sizes, row, numbers, into);
        } else {
            into.copy(&row[columns]);
        }
    }

    /// `factor W y` for the columns `y` of a head; without a matrix, the columns in their places of a row of zeros.
    pub(crate) fn project_head_back<const L: usize>(
        self,
        linear: Option<Linear>,
        head: usize,
        factor: f32,
        columns: &[Lanes<L>],
        row: &mut [Lanes<L>],
    ) {
        let (s, range) = (self.sizes, self.sizes.columns(head));
        if let Some(linear) = linear {
            let numbers = &self.numbers(linear.weight)[range.start..];
            let numbers = Operand::NumbersTransposed(numbers, s.heads_width);
            let columns = Operand::Rows(columns, s.heads_width);
            let into = Target::of(row, s.width).times(factor);
            self.multiply([1, s.d_head, s.width], columns, numbers, into);
        } else {
            row.fill([0.0; L]);
            row[range].copy_from_slice(columns);
            scale(self.isa, row, factor);
        }
    }

    /// `output = left · right`, with `sizes` rows, terms and columns.
    pub(crate) fn multiply<const L: usize>(
        self,
        sizes: [usize; 3],
        left: Operand<'_, L>,
        right: Operand<'_, L>,
        into: Target<'_, L>,
    ) {
        multiply(self.isa, sizes, left, right, into);
    }
}
