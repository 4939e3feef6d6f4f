//! The place of each parameter in memory.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::architecture::{Architecture, Projections};

/// A matrix, padded with zeros.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix {
    start: usize,
    /// Rows and columns without padding.
    pub(super) rows: usize,
    pub(super) columns: usize,
    padded_rows: usize,
    /// Numbers in a padded row.
    pub(super) stride: usize,
}

impl Matrix {
    #[inline(always)]
    pub(super) fn range(self) -> Range<usize> {
        self.start..self.start + self.padded_rows * self.stride
    }
}

/// Weights and biases of a projection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linear {
    pub(super) weight: Matrix,
    pub(super) bias: Matrix,
}

/// Scale and shift of a layer norm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Norm {
    pub(super) gamma: Matrix,
    pub(super) beta: Matrix,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct FeedForward {
    pub(super) hidden: Linear,
    pub(super) output: Linear,
    pub(super) norm: Norm,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// For queries, keys and values; the same one three times if they share it.
    pub(super) projections: Option<[Linear; 3]>,
    pub(super) output: Linear,
    pub(super) norm: Norm,
    pub(super) feed_forward: Option<FeedForward>,
}

/// The place of each parameter. Rows and columns are padded with zeros to whole vectors.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) tokens: Matrix,
    pub(super) positions: Option<Matrix>,
    pub(super) blocks: Vec<Block>,
    pub(super) classifier: Linear,
    all: Vec<Matrix>,
}

/// The next multiple of a vector's length.
pub(crate) const fn padded(size: usize) -> usize {
    size.next_multiple_of(8)
}

/// Hands out one place after the other.
struct Builder {
    end: usize,
    all: Vec<Matrix>,
}

impl Builder {
    fn matrix(&mut self, rows: usize, columns: usize, padded_rows: usize, stride: usize) -> Matrix {
        let matrix = Matrix {
            start: self.end,
            rows,
            columns,
            padded_rows,
            stride,
        };
        self.end = matrix.range().end;
        self.all.push(matrix);
        matrix
    }

    fn row(&mut self, columns: usize) -> Matrix {
        self.matrix(1, columns, 1, padded(columns))
    }

    fn linear(&mut self, inputs: usize, outputs: usize) -> Linear {
        let weight = self.matrix(inputs, outputs, padded(inputs), padded(outputs));
        Linear {
            weight,
            bias: self.row(outputs),
        }
    }

    fn norm(&mut self, size: usize) -> Norm {
        Norm {
            gamma: self.row(size),
            beta: self.row(size),
        }
    }
}

impl Places {
    pub(super) fn new(architecture: &Architecture) -> Self {
        let d = architecture.d_model;
        let mut builder = Builder {
            end: 0,
            all: Vec::new(),
        };
        let tokens = builder.matrix(
            architecture.vocab_size,
            d,
            architecture.vocab_size,
            padded(d),
        );
        let positions = architecture
            .position_embedding
            .then(|| builder.matrix(architecture.positions, d, architecture.positions, padded(d)));
        let blocks = (0..architecture.n_layers)
            .map(|_| Block {
                projections: match architecture.projections {
                    Projections::Separate => Some([(); 3].map(|()| builder.linear(d, d))),
                    Projections::Shared => Some([builder.linear(d, d); 3]),
                    Projections::None => None,
                },
                output: builder.linear(d, d),
                norm: builder.norm(d),
                feed_forward: (architecture.d_ff > 0).then(|| FeedForward {
                    hidden: builder.linear(d, architecture.d_ff),
                    output: builder.linear(architecture.d_ff, d),
                    norm: builder.norm(d),
                }),
            })
            .collect();
        let logits = architecture.n_logits();
        // Few columns, which are read one by one: they have no padding.
        let classifier = Linear {
            weight: builder.matrix(d, logits, padded(d), logits),
            bias: builder.matrix(1, logits, 1, logits),
        };
        Self {
            tokens,
            positions,
            blocks,
            classifier,
            all: builder.all,
        }
    }

    pub(super) fn parameter_count(&self) -> usize {
        self.all
            .iter()
            .map(|matrix| matrix.rows * matrix.columns)
            .sum()
    }

    /// Numbers with padding.
    pub(super) fn len(&self) -> usize {
        self.classifier.bias.range().end
    }

    /// From plain numbers, the form outside this crate, to padded rows.
    pub(super) fn pack(&self, plain: &[f32]) -> Vec<f32> {
        let mut padded = vec![0.0; self.len()];
        self.each_row(|at, columns, plain_at| {
            padded[at..at + columns].copy_from_slice(&plain[plain_at..plain_at + columns]);
        });
        padded
    }

    /// From padded rows to plain numbers.
    pub(super) fn unpack(&self, padded: &[f32]) -> Vec<f32> {
        let mut plain = Vec::with_capacity(self.parameter_count());
        self.each_row(|at, columns, _| plain.extend_from_slice(&padded[at..at + columns]));
        plain
    }

    /// Calls `row(start in padded rows, numbers, start in plain numbers)` for each row; rows without padding are one row.
    fn each_row(&self, mut row: impl FnMut(usize, usize, usize)) {
        let mut plain = 0;
        for matrix in &self.all {
            let (rows, columns) = if matrix.columns == matrix.stride {
                (1, matrix.rows * matrix.columns)
            } else {
                (matrix.rows, matrix.columns)
            };
            for index in 0..rows {
                row(matrix.start + index * matrix.stride, columns, plain);
                plain += columns;
            }
        }
    }
}
