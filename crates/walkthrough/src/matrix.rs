//! A matrix of finite numbers.

use headlight_report::counted;
use serde::{Deserialize, Serialize};

/// The most rows or columns of a matrix.
const MAX_ROWS_OR_COLUMNS: usize = 4096;

/// Numbers in rows of equal length. A file can hold finite ones only. `[row][column]`
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "Vec<Vec<f64>>")]
pub struct Matrix(pub Vec<Vec<f64>>);

impl TryFrom<Vec<Vec<f64>>> for Matrix {
    type Error = String;

    fn try_from(rows: Vec<Vec<f64>>) -> Result<Self, String> {
        let columns = rows.first().map_or(0, Vec::len);
        if columns == 0 {
            return Err("there are no numbers".to_owned());
        }
        if rows.len() > MAX_ROWS_OR_COLUMNS || columns > MAX_ROWS_OR_COLUMNS {
            return Err(format!(
                "the matrix is {} × {columns}; the largest size is {MAX_ROWS_OR_COLUMNS} × {MAX_ROWS_OR_COLUMNS}",
                rows.len()
            ));
        }
        for (index, row) in rows.iter().enumerate() {
            if row.len() != columns {
                return Err(format!(
                    "the length of row {index} is {}; that of row 0 is {columns}",
                    row.len()
                ));
            }
            if let Some(column) = row.iter().position(|number| !number.is_finite()) {
                return Err(format!(
                    "row {index}, column {column} is {}; it must be a finite number",
                    row[column]
                ));
            }
        }
        Ok(Self(rows))
    }
}

impl Matrix {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.0.len()
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    /// `self · other`. `how` names the product.
    pub(crate) fn times(&self, other: &Self, how: &str) -> Result<Self, String> {
        let (columns, rows) = (self.columns(), other.rows());
        if columns != rows {
            return Err(format!(
                "{how} cannot be computed: the first has {}, the second {}; make these equal",
                counted(columns, "column"),
                counted(rows, "row")
            ));
        }
        Ok(self.each_row(|row| {
            let product = |column: usize| {
                let pairs = row.iter().zip(&other.0);
                pairs.map(|(number, other)| number * other[column]).sum()
            };
            (0..other.columns()).map(product).collect()
        }))
    }

    pub(crate) fn transposed(&self) -> Self {
        let column = |column: usize| self.0.iter().map(|row| row[column]).collect();
        Self((0..self.columns()).map(column).collect())
    }

    /// Applies `change` to each number.
    pub(crate) fn map(&self, change: impl Fn(f64) -> f64) -> Self {
        self.each_row(|row| row.iter().map(|&number| change(number)).collect())
    }

    /// The sum of each row, as a column.
    pub(crate) fn row_sums(&self) -> Self {
        self.each_row(|row| vec![row.iter().sum()])
    }

    /// The softmax of each row; a row of minus infinities becomes 0.
    pub(crate) fn softmax(&self) -> Self {
        self.each_row(|row| {
            let largest = row.iter().copied().fold(f64::MIN, f64::max);
            let exponentials: Vec<f64> = row.iter().map(|score| (score - largest).exp()).collect();
            let sum: f64 = exponentials.iter().sum();
            let share = if sum > 0.0 { 1.0 / sum } else { 0.0 };
            exponentials.iter().map(|number| number * share).collect()
        })
    }

    fn each_row(&self, change: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        Self(self.0.iter().map(|row| change(row)).collect())
    }
}
