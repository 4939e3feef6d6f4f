//! Inputs and gradients of a projection, transposed: one column per lane, for sums over samples.

use core::ops::Range;

use super::elements::add_rows;
use super::places::Linear;
use super::products::{add_products, to_rows};
use crate::adam::Sums;
use crate::aligned::Aligned;
use crate::instructions::Instructions;
use crate::lanes::{LANES, Lanes};

/// Rows of one projection. `[eight samples, position, sample, width]`
#[derive(Clone, Debug)]
pub(super) struct Transposed {
    inputs: Aligned<1>,
    input_width: usize,
    gradients: Aligned<1>,
    gradient_width: usize,
    rows: usize,
    /// Rows whose products have a sum of their own.
    height: usize,
    /// Whether the gradients of parameters are wanted; else nothing here is computed.
    pub(super) is_wanted: bool,
}

impl Transposed {
    /// Space for rows of up to `widest` numbers.
    pub(super) fn new(rows: usize, widest: usize) -> Self {
        let space = || Aligned::zeros(rows * widest);
        Self {
            inputs: space(),
            input_width: 0,
            gradients: space(),
            gradient_width: 0,
            rows: 0,
            height: 0,
            is_wanted: true,
        }
    }

    /// Takes the inputs, one sample per lane. `[position, width]`
    pub(super) fn input<const L: usize>(
        &mut self,
        set: Instructions,
        lanes: &[Lanes<L>],
        width: usize,
    ) {
        let positions = lanes.len() / width;
        (self.input_width, self.rows) = (width, positions * L);
        self.height = positions * LANES;
        if self.is_wanted {
            to_rows(set, lanes, self.inputs.as_flattened_mut(), width);
        }
    }

    /// Takes the gradients of the outputs, of the same positions.
    pub(super) fn gradient<const L: usize>(
        &mut self,
        set: Instructions,
        lanes: &[Lanes<L>],
        width: usize,
    ) {
        self.gradient_width = width;
        if self.is_wanted {
            to_rows(set, lanes, self.gradients.as_flattened_mut(), width);
        }
    }

    /// Gives the products of each position a sum of its own.
    pub(super) fn one_by_one(&mut self) {
        self.height = LANES;
    }

    /// Sets all other columns of the gradients to 0.
    pub(super) fn keep_columns(&mut self, columns: Range<usize>) {
        let (_, gradients) = self.rows();
        let width = self.gradient_width;
        let count = gradients.len();
        for row in self.gradients.as_flattened_mut()[..count].chunks_exact_mut(width) {
            row[..columns.start].fill(0.0);
            row[columns.end..].fill(0.0);
        }
    }

    fn rows(&self) -> (&[f32], &[f32]) {
        (
            &self.inputs.as_flattened()[..self.rows * self.input_width],
            &self.gradients.as_flattened()[..self.rows * self.gradient_width],
        )
    }

    /// Adds `factor Σ input ⊗ gradient`, for the vectors that hold some columns.
    pub(super) fn add_products(
        &self,
        set: Instructions,
        columns: Range<usize>,
        factor: f32,
        sums: &mut [f32],
    ) {
        if !self.is_wanted {
            return;
        }
        let (inputs, gradients) = self.rows();
        let columns = columns.start / LANES * LANES..columns.end.next_multiple_of(LANES);
        let widths = (self.input_width, self.gradient_width);
        add_products(
            set,
            inputs,
            widths.0,
            gradients,
            widths.1,
            self.height,
            columns,
            factor,
            sums,
        );
    }

    /// Takes the gradients of a projection's outputs, and adds those of its weights and biases.
    pub(super) fn add_linear<const L: usize>(
        &mut self,
        set: Instructions,
        lanes: &[Lanes<L>],
        width: usize,
        linear: Linear,
        sums: &mut Sums<'_>,
    ) {
        self.add_bias(set, lanes, width, linear, sums);
        self.add_products(set, 0..width, 1.0, sums.of(linear.weight));
    }

    /// Takes the gradients of a projection's outputs, and adds that of its biases.
    pub(super) fn add_bias<const L: usize>(
        &mut self,
        set: Instructions,
        lanes: &[Lanes<L>],
        width: usize,
        linear: Linear,
        sums: &mut Sums<'_>,
    ) {
        self.gradient(set, lanes, width);
        if self.is_wanted {
            add_rows(set, self.rows().1, width, sums.of(linear.bias));
        }
    }
}
