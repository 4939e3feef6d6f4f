//! Where each parameter is in memory.

use std::ops::Range;

use crate::architecture::Architecture;
use headlight_architecture::{NormPlace, ParameterSpec, Positions, ProjectionKind};

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
    /// Those of the model's parameters, in the model's order.
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
struct Builder<'a> {
    end: usize,
    parameters: &'a [ParameterSpec],
    /// The slot of each parameter.
    slots: Vec<Option<Matrix>>,
    fixed: Vec<(Matrix, Fixed)>,
}

impl Builder<'_> {
    /// The slot of a parameter, or of fixed numbers if the model has none of this name.
    fn slot(
        &mut self,
        name: &str,
        [rows, columns]: [usize; 2],
        [padded_rows, stride]: [usize; 2],
        otherwise: &dyn Fn() -> Fixed,
    ) -> Matrix {
        let matrix = Matrix {
            start: self.end,
            rows,
            columns,
            padded_rows,
            stride,
        };
        self.end = matrix.range().end;
        let mut parameters = self.parameters.iter();
        match parameters.position(|one| one.name == name) {
            Some(index) => self.slots[index] = Some(matrix),
            None => self.fixed.push((matrix, otherwise())),
        }
        matrix
    }

    fn matrix(&mut self, name: &str, shape: [usize; 2], otherwise: &dyn Fn() -> Fixed) -> Matrix {
        self.slot(
            &format!("{name}.weight"),
            shape,
            shape.map(padded),
            otherwise,
        )
    }

    fn row(&mut self, name: &str, columns: usize, otherwise: f32) -> Matrix {
        let row = || Fixed::Table(vec![otherwise; columns]);
        self.slot(name, [1, columns], [1, padded(columns)], &row)
    }

    fn bias(&mut self, name: &str, columns: usize) -> Matrix {
        self.row(&format!("{name}.bias"), columns, 0.0)
    }

    /// A projection; the identity, if the model lacks it.
    fn linear(&mut self, name: &str, shape @ [inputs, outputs]: [usize; 2]) -> Linear {
        let identity = || {
            let cell = |cell: usize| f32::from(u8::from(cell / outputs == cell % outputs));
            Fixed::Table((0..inputs * outputs).map(cell).collect())
        };
        Linear {
            weight: self.matrix(name, shape, &identity),
            bias: self.bias(name, outputs),
        }
    }

    fn norm(&mut self, name: &str, size: usize) -> Norm {
        Norm {
            gamma: self.row(&format!("{name}.gamma"), size, 1.0),
            beta: self.row(&format!("{name}.beta"), size, 0.0),
        }
    }

    fn layer(&mut self, architecture: &Architecture, layer: usize) -> Layer {
        let model = &architecture.model;
        let (d, d_ff, heads) = (model.d_model, model.d_ff, architecture.heads_width());
        let block = format!("blocks.{layer}");
        let has_norms = model.norm != NormPlace::None;
        let mut project = |name| self.linear(&format!("{block}.attention.{name}"), [d, heads]);
        let projections = match model.attention.projections {
            ProjectionKind::Separate => Some(["query", "key", "value"].map(project)),
            ProjectionKind::Shared => Some([project("shared"); 3]),
            ProjectionKind::None => None,
        };
        Layer {
            projections,
            output: self.linear(&format!("{block}.attention.output"), [heads, d]),
            norm: has_norms.then(|| self.norm(&format!("{block}.norm"), d)),
            feed_forward: (d_ff > 0).then(|| FeedForward {
                hidden: self.linear(&format!("{block}.feed_forward.hidden"), [d, d_ff]),
                output: self.linear(&format!("{block}.feed_forward.output"), [d_ff, d]),
                norm: has_norms.then(|| self.norm(&format!("{block}.feed_forward.norm"), d)),
            }),
        }
    }
}

impl ParameterLayout {
    pub(crate) fn new(architecture: &Architecture) -> Self {
        let (model, inputs) = (&architecture.model, architecture.inputs);
        let (d, p, vocab_size) = (model.d_model, inputs.positions, inputs.vocab_size);
        let parameters = model.layout(inputs);
        let mut builder = Builder {
            end: 0,
            parameters: &parameters,
            slots: vec![None; parameters.len()],
            fixed: Vec::new(),
        };
        let none = || Fixed::Table(Vec::new());
        let shape = [vocab_size, d];
        let tokens = builder.slot("token_embedding", shape, [vocab_size, padded(d)], &none);
        // The positions follow the tokens: the embedding's backward pass splits the gradient there.
        let table = architecture.position_table.as_ref();
        let rows = table.map_or_else(|| model.position_rows(p), |_| p);
        let has_positions = table.is_some() || model.positions == Positions::Learned;
        let positions = has_positions.then(|| {
            let table = || table.cloned().map_or_else(none, Fixed::Table);
            builder.slot("position_embedding", [rows, d], [p, padded(d)], &table)
        });
        if let Some(slot) = positions.filter(|_| rows < p) {
            builder.fixed.push((slot, Fixed::RowsFrom(rows)));
        }
        let has_embedding_norm = model.embedding_norm;
        let embedding_norm = has_embedding_norm.then(|| builder.norm("embedding_norm", d));
        let layers = (0..model.n_layers).map(|layer| builder.layer(architecture, layer));
        let layers = layers.collect();
        let has_final_norm = model.has_final_norm();
        let final_norm = has_final_norm.then(|| builder.norm("final_norm", d));
        let hidden = model.classifier_hidden;
        let classifier_hidden =
            (hidden > 0).then(|| builder.linear("classifier.hidden", [d, hidden]));
        let shape = [if hidden > 0 { hidden } else { d }, architecture.n_logits()];
        let classifier = Linear {
            weight: builder.matrix("classifier", shape, &|| Fixed::Transposed(tokens)),
            bias: builder.bias("classifier", shape[1]),
        };
        Self {
            tokens,
            positions,
            embedding_norm,
            layers,
            final_norm,
            classifier_hidden,
            classifier,
            all: builder.slots.into_iter().flatten().collect(),
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
