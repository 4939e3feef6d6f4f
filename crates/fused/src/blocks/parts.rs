//! Parts of the gradient, of which each thread adds to its own.

use std::ops::Range;

use crate::adam::Sums;
use crate::places::Matrix;

impl<'a> Sums<'a> {
    /// The whole gradient.
    pub(super) fn whole(gradient: &'a mut [f32]) -> Self {
        Self {
            start: 0,
            gradient,
            squares: None,
        }
    }

    /// The same part again.
    pub(super) fn borrowed(&mut self) -> Sums<'_> {
        Sums {
            start: self.start,
            gradient: &mut *self.gradient,
            squares: self.squares.as_deref_mut(),
        }
    }

    /// Parts that start at some places of the whole gradient; the last place is its end.
    pub(super) fn divided(&mut self, parts: &[usize]) -> Vec<Sums<'_>> {
        let (mut rest, mut squares) = (&mut *self.gradient, self.squares.as_deref_mut());
        let mut divided = Vec::with_capacity(parts.len() - 1);
        for ends in parts.windows(2) {
            let (own, others) = rest.split_at_mut(ends[1] - ends[0]);
            rest = others;
            let own_squares = squares.take().map(|all| {
                let (own, others) = all.split_at_mut(all.len().min(ends[1] - ends[0]));
                squares = Some(others);
                own
            });
            divided.push(Sums {
                start: ends[0],
                gradient: own,
                squares: own_squares,
            });
        }
        divided
    }

    /// The rows of a matrix that this part of the gradient has.
    pub(super) fn rows(&self, place: Matrix) -> Range<usize> {
        let whole = place.range();
        let end = self.start + self.gradient.len();
        let row = |at: usize| (at.clamp(whole.start, whole.end) - whole.start) / place.stride;
        row(self.start)..row(end)
    }

    /// The gradient of some rows of a matrix.
    pub(super) fn of_rows(&mut self, place: Matrix, rows: Range<usize>) -> &mut [f32] {
        let start = place.range().start + rows.start * place.stride - self.start;
        &mut self.gradient[start..][..rows.len() * place.stride]
    }

    /// The gradient of some rows of the token embedding, which is first in memory, and their squares, if there are any.
    pub(super) fn of_tokens(
        &mut self,
        place: Matrix,
        rows: Range<usize>,
    ) -> (&mut [f32], &mut [f32]) {
        let own = rows.start * place.stride - self.start..rows.end * place.stride - self.start;
        let squares = self.squares.as_deref_mut().unwrap_or_default();
        let squares = if squares.is_empty() {
            squares
        } else {
            &mut squares[own.clone()]
        };
        (&mut self.gradient[own], squares)
    }
}
