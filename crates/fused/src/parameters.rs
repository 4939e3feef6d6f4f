//! Where each parameter is in memory.

use std::ops::Range;

use crate::architecture::Architecture;
use headlight_architecture::{NormPlace, Positions, ProjectionKind};

/// The slot of a matrix, padded with zeros.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix {
    start: usize,
    /// Rows and columns without padding.
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) padded_rows: usize,
    /// Numbers in a padded row.
    pub(crate) stride: usize,
}

impl Matrix {
    #[inline(always)]
    pub(crate) fn range(self) -> Range<usize> {
        self.start..self.start + self.padded_rows * self.stride
    }

    /// Where the number in a row and a column is.
    fn at(self, [row, column]: [usize; 2]) -> usize {
        self.start + row * self.stride + column
    }

    /// Row and column of each number without padding, row by row.
    fn cells(self) -> impl Iterator<Item = [usize; 2]> {
        (0..self.rows).flat_map(move |row| (0..self.columns).map(move |column| [row, column]))
    }
}

/// The slots of a projection: weights and biases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    pub(crate) weight: Matrix,
    pub(crate) bias: Matrix,
}

/// The slots of a norm: gain and bias.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Norm {
    pub(crate) gamma: Matrix,
    pub(crate) beta: Matrix,
}

/// The slots of a feed-forward layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FeedForward {
    pub(crate) hidden: Linear,
    pub(crate) output: Linear,
    pub(crate) norm: Option<Norm>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Layer {
    /// For queries, keys and values; the same one three times if they share it.
    pub(crate) projections: Option<[Linear; 3]>,
    pub(crate) output: Linear,
    pub(crate) norm: Option<Norm>,
    pub(crate) feed_forward: Option<FeedForward>,
}

/// The slots of all parameters. Rows and columns are padded with zeros to whole vectors.
///
/// Parts that an architecture lacks have a slot all the same, filled with numbers that have no effect: biases of 0, gains
/// of 1, an identity in place of a projection. So the passes know nothing of them.
#[derive(Clone, Debug)]
pub(crate) struct ParameterLayout {
    pub(crate) tokens: Matrix,
    pub(crate) positions: Option<Matrix>,
    pub(crate) embedding_norm: Option<Norm>,
    pub(crate) layers: Vec<Layer>,
    pub(crate) final_norm: Option<Norm>,
    pub(crate) classifier_hidden: Option<Linear>,
    pub(crate) classifier: Linear,
    all: Vec<Matrix>,
    fixed: Vec<(Matrix, Fixed)>,
}

/// The numbers of a slot that no parameter has of its own.
#[derive(Clone, Debug)]
enum Fixed {
    /// Row-major.
    Table(Vec<f32>),
    /// The transposed matrix of another slot.
    Transposed(Matrix),
    /// From this row on, the row before it.
    RowsFrom(usize),
}

/// The next multiple of a vector's length.
pub(crate) const fn padded(size: usize) -> usize {
    size.next_multiple_of(8)
}

/// Hands out one slot after the other.
struct Builder {
    end: usize,
    all: Vec<Matrix>,
    fixed: Vec<(Matrix, Fixed)>,
    /// Whether norms have gains and biases.
    gain: bool,
    bias: bool,
}

impl Builder {
    /// A slot; one of a parameter, or one with fixed numbers.
    fn slot(
        &mut self,
        [rows, columns]: [usize; 2],
        [padded_rows, stride]: [usize; 2],
        fixed: Option<Fixed>,
    ) -> Matrix {
        let matrix = Matrix {
            start: self.end,
            rows,
            columns,
            padded_rows,
            stride,
        };
        self.end = matrix.range().end;
        match fixed {
            None => self.all.push(matrix),
            Some(fixed) => self.fixed.push((matrix, fixed)),
        }
        matrix
    }

    fn matrix(&mut self, rows: usize, columns: usize, fixed: Option<Fixed>) -> Matrix {
        self.slot([rows, columns], [padded(rows), padded(columns)], fixed)
    }

    /// A row that is a parameter, or else constant.
    fn row(&mut self, columns: usize, exists: bool, otherwise: f32) -> Matrix {
        let fixed = (!exists).then(|| Fixed::Table(vec![otherwise; columns]));
        self.slot([1, columns], [1, padded(columns)], fixed)
    }

    fn linear(&mut self, inputs: usize, outputs: usize, has_bias: bool) -> Linear {
        Linear {
            weight: self.matrix(inputs, outputs, None),
            bias: self.row(outputs, has_bias, 0.0),
        }
    }

    fn identity(&mut self, size: usize) -> Linear {
        let cell = |cell: usize| f32::from(u8::from(cell / size == cell % size));
        let identity = (0..size * size).map(cell).collect();
        Linear {
            weight: self.matrix(size, size, Some(Fixed::Table(identity))),
            bias: self.row(size, false, 0.0),
        }
    }

    fn norm(&mut self, size: usize) -> Norm {
        let (gain, bias) = (self.gain, self.bias);
        Norm {
            gamma: self.row(size, gain, 1.0),
            beta: self.row(size, bias, 0.0),
        }
    }

    fn layer(&mut self, architecture: &Architecture) -> Layer {
        let (model, attention) = (&architecture.model, &architecture.model.attention);
        let (d, d_ff, heads) = (model.d_model, model.d_ff, architecture.heads_width());
        let has_norms = model.norm != NormPlace::None;
        let mut project = |exists| {
            if exists {
                self.linear(d, heads, attention.bias)
            } else {
                self.identity(d)
            }
        };
        Layer {
            projections: match attention.projections {
                ProjectionKind::Separate => {
                    Some([true, true, attention.value_projection].map(project))
                }
                ProjectionKind::Shared => Some([project(true); 3]),
                ProjectionKind::None => None,
            },
            output: if attention.output_projection {
                self.linear(heads, d, attention.output_bias)
            } else {
                self.identity(d)
            },
            norm: has_norms.then(|| self.norm(d)),
            feed_forward: (d_ff > 0).then(|| FeedForward {
                hidden: self.linear(d, d_ff, model.feed_forward_bias),
                output: self.linear(d_ff, d, model.feed_forward_bias),
                norm: has_norms.then(|| self.norm(d)),
            }),
        }
    }
}

impl ParameterLayout {
    pub(crate) fn new(architecture: &Architecture) -> Self {
        let (model, inputs) = (&architecture.model, architecture.inputs);
        let (d, p, vocab_size) = (model.d_model, inputs.positions, inputs.vocab_size);
        let mut builder = Builder {
            end: 0,
            all: Vec::new(),
            fixed: Vec::new(),
            gain: model.norm_gain,
            bias: model.has_norm_bias(),
        };
        let tokens = builder.slot([vocab_size, d], [vocab_size, padded(d)], None);
        // The positions follow the tokens: the embedding's backward pass splits the gradient there.
        let table = architecture.position_table.clone().map(Fixed::Table);
        let is_fixed = table.is_some();
        let rows = if is_fixed { p } else { model.position_rows(p) };
        let positions = (is_fixed || model.positions == Positions::Learned)
            .then(|| builder.slot([rows, d], [p, padded(d)], table));
        if let Some(slot) = positions.filter(|_| rows < p) {
            builder.fixed.push((slot, Fixed::RowsFrom(rows)));
        }
        let embedding_norm = model.embedding_norm.then(|| builder.norm(d));
        let layers = (0..model.n_layers)
            .map(|_| builder.layer(architecture))
            .collect();
        let final_norm = model.has_final_norm().then(|| builder.norm(d));
        let (hidden, has_bias) = (model.classifier_hidden, model.classifier_bias);
        let classifier_hidden = (hidden > 0).then(|| builder.linear(d, hidden, has_bias));
        let inputs = if hidden > 0 { hidden } else { d };
        let (logits, tied) = (architecture.n_logits(), model.tied_embeddings);
        let classifier = Linear {
            weight: builder.matrix(inputs, logits, tied.then_some(Fixed::Transposed(tokens))),
            bias: builder.row(logits, has_bias, 0.0),
        };
        Self {
            tokens,
            positions,
            embedding_norm,
            layers,
            final_norm,
            classifier_hidden,
            classifier,
            all: builder.all,
            fixed: builder.fixed,
        }
    }

    /// Fills the places that no parameter has of its own.
    pub(crate) fn complete(&self, padded: &mut [f32]) {
        for (slot, fixed) in &self.fixed {
            match fixed {
                Fixed::Table(values) => {
                    for (cell, value) in slot.cells().zip(values) {
                        padded[slot.at(cell)] = *value;
                    }
                }
                Fixed::Transposed(other) => {
                    for [row, column] in slot.cells() {
                        padded[slot.at([row, column])] = padded[other.at([column, row])];
                    }
                }
                Fixed::RowsFrom(first) => {
                    for row in *first..slot.padded_rows {
                        let last = slot.at([first - 1, 0])..slot.at([*first, 0]);
                        padded.copy_within(last, slot.at([row, 0]));
                    }
                }
            }
        }
    }

    /// Moves the gradient of places without a parameter to the parameter that fills them, or sets it to zero.
    pub(crate) fn collect(&self, gradient: &mut [f32]) {
        for (slot, fixed) in &self.fixed {
            match fixed {
                Fixed::Table(_) => gradient[slot.range()].fill(0.0),
                Fixed::Transposed(other) => {
                    for [row, column] in slot.cells() {
                        let moved = std::mem::take(&mut gradient[slot.at([row, column])]);
                        gradient[other.at([column, row])] += moved;
                    }
                }
                Fixed::RowsFrom(first) => {
                    let (rows, copies) = gradient[slot.range()].split_at_mut(first * slot.stride);
                    let last = &mut rows[(first - 1) * slot.stride..];
                    for row in copies.chunks_exact_mut(slot.stride) {
                        for (sum, value) in last.iter_mut().zip(row) {
                            *sum += std::mem::take(value);
                        }
                    }
                }
            }
        }
    }

    /// Divides the numbers into parts of about the same cost, between eight rows of a matrix and the next. `cost` is that of a
    /// number of a matrix.
    pub(crate) fn parts(&self, count: usize, cost: impl Fn(&Matrix) -> usize) -> Vec<usize> {
        let mut matrices: Vec<&Matrix> = self.all.iter().collect();
        matrices.extend(self.fixed.iter().map(|(matrix, _)| matrix));
        matrices.sort_by_key(|matrix| matrix.start);
        // A table may be a parameter in its first rows alone.
        matrices.dedup_by_key(|matrix| matrix.start);
        let costs = matrices.iter().map(|slot| cost(slot) * slot.range().len());
        let whole: usize = costs.sum();
        let (mut parts, mut before) = (Vec::with_capacity(count), 0);
        for matrix in matrices {
            for row in (0..matrix.padded_rows).step_by(8) {
                if before * count >= whole * parts.len() {
                    parts.push(matrix.start + row * matrix.stride);
                }
                before += cost(matrix) * matrix.stride * 8.min(matrix.padded_rows - row);
            }
        }
        parts.push(self.len());
        parts
    }

    /// Numbers with padding.
    pub(crate) fn len(&self) -> usize {
        self.classifier.bias.range().end
    }

    /// From plain numbers, the form outside this crate, to padded rows.
    pub(crate) fn pack(&self, mut plain: &[f32]) -> Vec<f32> {
        let mut padded = vec![0.0; self.len()];
        for range in self.rows() {
            let (row, rest) = plain.split_at(range.len());
            padded[range].copy_from_slice(row);
            plain = rest;
        }
        self.complete(&mut padded);
        padded
    }

    /// From padded rows to plain numbers.
    pub(crate) fn unpack(&self, padded: &[f32]) -> Vec<f32> {
        let mut plain = Vec::with_capacity(self.len());
        for range in self.rows() {
            plain.extend_from_slice(&padded[range]);
        }
        plain
    }

    /// The numbers of each row without its padding; rows without padding are one row.
    fn rows(&self) -> impl Iterator<Item = Range<usize>> {
        self.all.iter().flat_map(|matrix| {
            let is_whole = matrix.columns == matrix.stride;
            let rows = if is_whole { 1 } else { matrix.rows };
            let len = matrix.rows * matrix.columns / rows;
            (0..rows).map(move |row| matrix.at([row, 0])..matrix.at([row, len]))
        })
    }
}
