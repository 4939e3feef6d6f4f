//! The embeddings of eight samples: from rows of the tables to lanes, and the gradient back to these rows.

use super::Chunk;
use crate::instructions::for_each_set;
use crate::lanes::{LANES, Lanes, ZERO, square};

for_each_set! {
    transpose,
    /// `output[position] = tokens[token at position] + positions[position]`; `positions` may be empty. Rows of the tables
    /// have `width` numbers.
    pub(super) fn forward<'a>(
        chunk: Chunk<'a>,
        tokens: &'a [f32],
        positions: &'a [f32],
        width: usize,
        output: &'a mut [Lanes],
    ) {
        for (position, output) in output.chunks_exact_mut(width).enumerate() {
            let mut rows = [&[][..]; LANES];
            for lane in 0..LANES {
                rows[lane] = &tokens[chunk.token(lane, position) as usize * width..][..width];
            }
            for column in (0..width).step_by(LANES) {
                let mut shift = ZERO;
                if !positions.is_empty() {
                    shift.copy_from_slice(&positions[position * width + column..][..LANES]);
                }
                let mut numbers = [ZERO; LANES];
                for lane in 0..LANES {
                    let row = &rows[lane][column..][..LANES];
                    for i in 0..LANES {
                        numbers[lane][i] = row[i] + shift[i];
                    }
                }
                output[column..][..LANES].copy_from_slice(&transpose(numbers));
            }
        }
    }
}

for_each_set! {
    transpose,
    /// Adds the gradient of each position of each sample to the rows of its token and position, and its square to
    /// `squares`. `positions` and `squares` may be empty.
    pub(super) fn backward<'a>(
        chunk: Chunk<'a>,
        gradient: &'a [Lanes],
        width: usize,
        tokens: &'a mut [f32],
        positions: &'a mut [f32],
        squares: &'a mut [f32],
    ) {
        for (position, gradient) in gradient.chunks_exact(width).enumerate() {
            let mut starts = [0; LANES];
            for lane in 0..LANES {
                starts[lane] = chunk.token(lane, position) as usize * width;
            }
            for (tile, gradient) in gradient.as_chunks::<LANES>().0.iter().enumerate() {
                let rows = transpose(*gradient);
                let rows = &rows[..chunk.chosen.len().min(LANES)];
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
