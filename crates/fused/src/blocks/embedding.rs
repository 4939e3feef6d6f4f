//! The embeddings of some samples: from rows of the tables to lanes, and the gradient back to these rows.

use std::ops::Range;

use crate::chunk::Chunk;
use crate::instructions::for_each_set;
use crate::lanes::{LANES, Lanes, ZERO, square};

for_each_set! {
    vectors,
    /// `output[position] = tokens[token at position] + positions[position]`; `positions` may be empty. Rows of the tables
    /// have `width` numbers.
    pub(super) fn forward<'a, L>(
        chunk: Chunk<'a>,
        tokens: &'a [f32],
        positions: &'a [f32],
        width: usize,
        output: &'a mut [Lanes<L>],
    ) {
        for (position, output) in output.chunks_exact_mut(width).enumerate() {
            let mut rows = [&[][..]; L];
            for lane in 0..L {
                rows[lane] = &tokens[chunk.token(lane, position) as usize * width..][..width];
            }
            for column in (0..width).step_by(LANES) {
                let mut shift = ZERO;
                if !positions.is_empty() {
                    shift.copy_from_slice(&positions[position * width + column..][..LANES]);
                }
                let output = &mut output[column..][..LANES];
                for (part, rows) in rows.chunks_exact(LANES).enumerate() {
                    let mut numbers = [ZERO; LANES];
                    for lane in 0..LANES {
                        let row = &rows[lane][column..][..LANES];
                        for i in 0..LANES {
                            numbers[lane][i] = row[i] + shift[i];
                        }
                    }
                    for (output, numbers) in output.iter_mut().zip(vectors.turn(numbers)) {
                        output[part * LANES..][..LANES].copy_from_slice(&numbers);
                    }
                }
            }
        }
    }
}

/// Stands for a lane without a sample of its own.
pub(super) const NONE: u32 = u32::MAX;

for_each_set! {
    /// Adds the gradient of each token to its row, and its square to `squares`, for the tokens of some rows of the table.
    /// `gradient` and `squares` have these rows; `squares` may be empty.
    pub(super) fn backward<'a>(
        rows: &'a [f32],
        width: usize,
        tokens: &'a [u32],
        own: Range<usize>,
        gradient: &'a mut [f32],
        squares: &'a mut [f32],
    ) {
        for (row, &token) in rows.chunks_exact(width).zip(tokens) {
            if !own.contains(&(token as usize)) {
                continue;
            }
            let place = (token as usize - own.start) * width..(token as usize - own.start + 1) * width;
            for (sum, value) in gradient[place.clone()].iter_mut().zip(row) {
                *sum += value;
            }
            if !squares.is_empty() {
                for (sum, value) in squares[place].iter_mut().zip(row) {
                    *sum += square(*value);
                }
            }
        }
    }
}

for_each_set! {
    /// Adds the gradient of each token to the row of its position, for some rows of the table. The rows are those of `computed`
    /// positions for every eight samples.
    pub(super) fn backward_of_positions<'a>(
        rows: &'a [f32],
        width: usize,
        tokens: &'a [u32],
        computed: usize,
        own: Range<usize>,
        gradient: &'a mut [f32],
    ) {
        for (index, (row, &token)) in rows.chunks_exact(width).zip(tokens).enumerate() {
            let position = index / LANES % computed;
            if token == NONE || !own.contains(&position) {
                continue;
            }
            let sums = &mut gradient[(position - own.start) * width..][..width];
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
    }
}
