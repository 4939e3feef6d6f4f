//! The place of each parameter of a one-block classifier in memory.

use std::ops::Range;

/// The sizes of a one-block classifier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) vocab_size: usize,
    pub(crate) positions: usize,
    pub(crate) d_model: usize,
    pub(crate) n_heads: usize,
}

/// The parameters, in their order in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    Tokens,
    Positions,
    QueryWeight,
    QueryBias,
    KeyWeight,
    KeyBias,
    ValueWeight,
    ValueBias,
    OutputWeight,
    OutputBias,
    Gamma,
    Beta,
    ClassifierWeight,
    ClassifierBias,
}

impl Parameter {
    pub(crate) const ALL: [Self; 14] = [
        Self::Tokens,
        Self::Positions,
        Self::QueryWeight,
        Self::QueryBias,
        Self::KeyWeight,
        Self::KeyBias,
        Self::ValueWeight,
        Self::ValueBias,
        Self::OutputWeight,
        Self::OutputBias,
        Self::Gamma,
        Self::Beta,
        Self::ClassifierWeight,
        Self::ClassifierBias,
    ];

    fn rows(self, shape: Shape) -> usize {
        match self {
            Self::Tokens => shape.vocab_size,
            Self::Positions => shape.positions,
            Self::QueryWeight | Self::KeyWeight | Self::ValueWeight | Self::OutputWeight => {
                shape.d_model
            }
            _ => 1,
        }
    }

    /// The classifier's weight, `[d_model, 1]`, is stored as one row.
    fn columns(self, shape: Shape) -> usize {
        match self {
            Self::ClassifierBias => 1,
            _ => shape.d_model,
        }
    }
}

/// The place of each parameter in memory. A row of `d_model` numbers is padded with zeros to `width`, so
/// that it consists of whole vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) shape: Shape,
    /// Numbers in a padded row.
    pub(crate) width: usize,
}

impl Layout {
    pub(crate) fn new(shape: Shape) -> Self {
        let width = match shape.d_model {
            4 => 4,
            d_model => d_model.next_multiple_of(8),
        };
        Self { shape, width }
    }

    /// The numbers of a parameter. A matrix has `width` rows too, the last ones being padding.
    #[inline(always)]
    pub(crate) fn range(self, parameter: Parameter) -> Range<usize> {
        let embeddings = self.shape.vocab_size + self.shape.positions;
        // After the embeddings: a matrix and a bias for each of four projections, then four rows.
        let projection = |index: usize| embeddings + index * (self.width + 1);
        let bias = |index: usize| (projection(index) + self.width, 1);
        let matrix = |index: usize| (projection(index), self.width);
        let row = |index: usize| (projection(4) + index, 1);
        let (first, rows) = match parameter {
            Parameter::Tokens => (0, self.shape.vocab_size),
            Parameter::Positions => (self.shape.vocab_size, self.shape.positions),
            Parameter::QueryWeight => matrix(0),
            Parameter::QueryBias => bias(0),
            Parameter::KeyWeight => matrix(1),
            Parameter::KeyBias => bias(1),
            Parameter::ValueWeight => matrix(2),
            Parameter::ValueBias => bias(2),
            Parameter::OutputWeight => matrix(3),
            Parameter::OutputBias => bias(3),
            Parameter::Gamma => row(0),
            Parameter::Beta => row(1),
            Parameter::ClassifierWeight => row(2),
            Parameter::ClassifierBias => row(3),
        };
        first * self.width..(first + rows) * self.width
    }

    /// Numbers in all padded rows.
    pub(crate) fn len(self) -> usize {
        self.range(Parameter::ClassifierBias).end
    }

    /// From plain numbers, the form outside this crate, to padded rows.
    pub(crate) fn pack(self, plain: &[f32]) -> Vec<f32> {
        let mut padded = vec![0.0; self.len()];
        self.each_row(|at, columns, plain_at| {
            padded[at..at + columns].copy_from_slice(&plain[plain_at..plain_at + columns]);
        });
        padded
    }

    /// From padded rows to plain numbers.
    pub(crate) fn unpack(self, padded: &[f32]) -> Vec<f32> {
        let mut plain = Vec::with_capacity(self.len());
        self.each_row(|at, columns, _| plain.extend_from_slice(&padded[at..at + columns]));
        plain
    }

    /// Calls `row(start in padded rows, numbers, start in plain numbers)` for each row.
    fn each_row(self, mut row: impl FnMut(usize, usize, usize)) {
        let mut plain = 0;
        for parameter in Parameter::ALL {
            let columns = parameter.columns(self.shape);
            let rows = self.range(parameter).step_by(self.width);
            for at in rows.take(parameter.rows(self.shape)) {
                row(at, columns, plain);
                plain += columns;
            }
        }
    }
}
