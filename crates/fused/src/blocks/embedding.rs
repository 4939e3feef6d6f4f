//! The embeddings of some samples: from rows of the tables to lanes, and the gradient back to these rows.

use super::Chunk;
use crate::instructions::for_each_set;
use crate::lanes::{LANES, Lanes, ZERO, square};
use crate::vectors::rows_of_samples;

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

for_each_set! {
    vectors,
    /// Adds the gradient of each position of each sample to the rows of its token and position, and its square to
    /// `squares`. `positions` and `squares` may be empty.
    pub(super) fn backward<'a, L>(
        chunk: Chunk<'a>,
        gradient: &'a [Lanes<L>],
        width: usize,
        tokens: &'a mut [f32],
        positions: &'a mut [f32],
        squares: &'a mut [f32],
    ) {
        for part in 0..chunk.chosen.len().min(L).div_ceil(LANES) {
            let count = (chunk.chosen.len() - part * LANES).min(LANES);
            for (position, gradient) in gradient.chunks_exact(width).enumerate() {
                let mut starts = [0; LANES];
                for lane in 0..LANES {
                    starts[lane] = chunk.token(part * LANES + lane, position) as usize * width;
                }
                for (tile, gradient) in gradient.as_chunks::<LANES>().0.iter().enumerate() {
                    let rows = &rows_of_samples(vectors, gradient, part)[..count];
                    for (row, start) in rows.iter().zip(starts) {
                        let sum = &mut tokens[start + tile * LANES..][..LANES];
                        for i in 0..LANES {
                            sum[i] += row[i];
                        }
                        if !squares.is_empty() {
                            let sum = &mut squares[start + tile * LANES..][..LANES];
                            for i in 0..LANES {
                                sum[i] += square(row[i]);
                            }
                        }
                    }
                    if !positions.is_empty() {
                        let sums = &mut positions[position * width + tile * LANES..][..LANES];
                        let mut sum = ZERO;
                        sum.copy_from_slice(sums);
                        for row in rows {
                            for i in 0..LANES {
                                sum[i] += row[i];
                            }
                        }
                        sums.copy_from_slice(&sum);
                    }
                }
            }
        }
    }
}
