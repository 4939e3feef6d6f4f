//! A part of the gradient of a batch, to which one thread adds.

use std::ops::Range;

use crate::parameters::Matrix;

/// A part of the gradient of all parameters, and of the squares of each occurrence of a token.
pub(crate) struct GradientPart<'a> {
    /// The first number of the gradient that is in this part of it.
    pub(crate) start: usize,
    pub(crate) gradient: &'a mut [f32],
    pub(crate) squares: Option<&'a mut [f32]>,
}

impl GradientPart<'_> {
    /// No part: where nothing is added, or not yet.
    pub(crate) fn none() -> Self {
        Self {
            start: 0,
            gradient: &mut [],
            squares: None,
        }
    }

    /// The same part again.
    pub(crate) fn borrowed(&mut self) -> GradientPart<'_> {
        GradientPart {
            start: self.start,
            gradient: &mut *self.gradient,
            squares: self.squares.as_deref_mut(),
        }
    }

    /// Parts that start at some indices of the whole gradient; the last index is its end.
    pub(crate) fn divided(&mut self, parts: &[usize]) -> Vec<GradientPart<'_>> {
        let (mut rest, mut squares) = (&mut *self.gradient, self.squares.as_deref_mut());
        let mut divided = Vec::with_capacity(parts.len() - 1);
        for ends in parts.windows(2) {
            let (part, others) = rest.split_at_mut(ends[1] - ends[0]);
            rest = others;
            let part_squares = squares.take().map(|all| {
                let (part, others) = all.split_at_mut(all.len().min(ends[1] - ends[0]));
                squares = Some(others);
                part
            });
            divided.push(GradientPart {
                start: ends[0],
                gradient: part,
                squares: part_squares,
            });
        }
        divided
    }

    /// The rows of a matrix that this part of the gradient has.
    pub(crate) fn rows(&self, slot: Matrix) -> Range<usize> {
        let whole = slot.range();
        let end = self.start + self.gradient.len();
        let row = |at: usize| (at.clamp(whole.start, whole.end) - whole.start) / slot.stride;
        row(self.start)..row(end)
    }

    /// The gradient of some rows of a matrix.
    pub(crate) fn of_rows(&mut self, slot: Matrix, rows: Range<usize>) -> &mut [f32] {
        let start = slot.range().start + rows.start * slot.stride - self.start;
        &mut self.gradient[start..][..rows.len() * slot.stride]
    }

    /// The gradient of some rows of the token embedding, which is first in memory, and their squares, if there are any.
    pub(crate) fn of_tokens(
        &mut self,
        slot: Matrix,
        rows: Range<usize>,
    ) -> (&mut [f32], &mut [f32]) {
        let numbers = rows.start * slot.stride - self.start..rows.end * slot.stride - self.start;
        let squares = self.squares.as_deref_mut();
        let squares = squares.map_or(&mut [][..], |squares| &mut squares[numbers.clone()]);
        (&mut self.gradient[numbers], squares)
    }
}
