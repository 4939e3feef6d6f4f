//! A matrix of checked numbers.

use crate::keys::Rows;
use crate::mistake::{MistakeAt, count};

/// The most tokens of a walkthrough.
pub(crate) const MOST_TOKENS: usize = 256;

/// The most rows or columns of a matrix.
pub(crate) const MOST_WIDTH: usize = 4096;

/// Finite numbers in rows of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// Row-major. `[row, column]`
    pub values: Vec<f32>,
}

impl Matrix {
    /// Reads the matrix of a key.
    pub(crate) fn read(name: &str, given: &Rows) -> Result<Self, MistakeAt> {
        let wrong = |message: String| MistakeAt::new(given.span(), message);
        let rows = given.get_ref();
        let columns = rows.first().map_or(0, Vec::len);
        if columns == 0 {
            return Err(wrong(format!("`{name}` is empty")));
        }
        if let Some((index, row)) = rows
            .iter()
            .enumerate()
            .find(|(_, row)| row.len() != columns)
        {
            return Err(wrong(format!(
                "row {index} of `{name}` has {}; row 0 has {columns}",
                count(row.len(), "column")
            )));
        }
        if columns > MOST_WIDTH || rows.len() > MOST_WIDTH {
            return Err(wrong(format!(
                "`{name}` is {} × {columns}; the largest size is {MOST_WIDTH} × {MOST_WIDTH}",
                rows.len()
            )));
        }
        let mut values = Vec::with_capacity(rows.len() * columns);
        for (row, numbers) in rows.iter().enumerate() {
            for (column, &number) in numbers.iter().enumerate() {
                let value = number as f32;
                if !value.is_finite() {
                    return Err(wrong(format!(
                        "row {row}, column {column} of `{name}` is {number}; it must be a finite number, in float32 too"
                    )));
                }
                values.push(value);
            }
        }
        Ok(Self {
            rows: rows.len(),
            columns,
            values,
        })
    }

    /// A matrix of these values, row-major.
    pub(crate) fn new(rows: usize, columns: usize, values: Vec<f32>) -> Self {
        Self {
            rows,
            columns,
            values,
        }
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// Some of its rows, in the requested order.
    pub(crate) fn some_rows(&self, rows: &[usize]) -> Self {
        let values = rows.iter().flat_map(|&row| self.row(row)).copied();
        Self::new(rows.len(), self.columns, values.collect())
    }

    /// Applies `change` to each number.
    pub(crate) fn map(&self, change: impl Fn(f32) -> f32) -> Self {
        let values = self.values.iter().map(|&value| change(value)).collect();
        Self::new(self.rows, self.columns, values)
    }

    /// The sum of each row, as a column.
    pub(crate) fn row_sums(&self) -> Self {
        let sums = (0..self.rows).map(|row| self.row(row).iter().sum());
        Self::new(self.rows, 1, sums.collect())
    }

    /// `rows × columns`, for messages.
    pub(crate) fn shape(&self) -> String {
        format!("{} × {}", self.rows, self.columns)
    }
}
