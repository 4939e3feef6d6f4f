//! Compares the numbers that a document prints with the computed ones.

use serde::Serialize;

use crate::keys::{Label, PublishedKeys};
use crate::text::one_line;
use crate::{Computed, Stage};

/// The most decimals that numbers are compared to.
const MAX_DECIMALS: usize = 6;

/// The numbers that a document prints for one row of a stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Published {
    /// The stage.
    pub stage: Stage,
    /// The index of the row, among the rows shown.
    pub row: usize,
    /// The indices of the columns.
    pub columns: Vec<usize>,
    /// The number printed for each column.
    pub values: Vec<f64>,
    /// The number computed for each column.
    pub computed: Vec<f64>,
    /// For each column, whether the two differ by more than rounding.
    pub differs: Vec<bool>,
    /// The decimals that they are rounded to.
    pub decimals: usize,
    /// Whether any of the numbers is wrong.
    pub erratum: bool,
    /// Why they differ.
    pub note: Option<String>,
}

impl Published {
    /// Compares an entry with the computed stages.
    pub(crate) fn check(given: &PublishedKeys, stages: &[Computed]) -> Result<Self, String> {
        let Some(stage) = stages.iter().find(|stage| stage.stage == given.stage) else {
            let present: Vec<&str> = stages.iter().map(|stage| stage.stage.name()).collect();
            return Err(format!(
                "this case has no such stage; its stages are {}",
                present.join(", ")
            ));
        };
        if given.decimals > MAX_DECIMALS {
            return Err(format!(
                "`decimals` is {}; it can be at most {MAX_DECIMALS}",
                given.decimals
            ));
        }
        let row = given.row.find(&stage.rows)?;
        let find = |label: &Label| label.find(&stage.columns);
        let columns: Vec<usize> = match &given.columns {
            None => (0..stage.columns.len()).collect(),
            Some(labels) => labels.iter().map(find).collect::<Result<_, _>>()?,
        };
        if columns.len() != given.values.len() || given.values.iter().any(|value| value.is_nan()) {
            return Err(format!(
                "`values` must hold {} numbers, one for each column",
                columns.len()
            ));
        }
        let numbers = &stage.matrix.0[row];
        let computed: Vec<f64> = columns.iter().map(|&column| numbers[column]).collect();
        let pairs = given.values.iter().zip(&computed);
        let differs: Vec<bool> = pairs
            .map(|(&printed, &computed)| differs(printed, computed, given.decimals))
            .collect();
        Ok(Self {
            stage: given.stage,
            row,
            columns,
            values: given.values.clone(),
            computed,
            erratum: differs.contains(&true),
            differs,
            decimals: given.decimals,
            note: given.note.as_deref().map(one_line),
        })
    }
}

/// Whether the computed number cannot be rounded to the printed one: they differ by more than half a unit of the
/// last decimal, plus a small tolerance for numbers in binary.
fn differs(printed: f64, computed: f64, decimals: usize) -> bool {
    if printed.is_infinite() || computed.is_infinite() {
        return printed.to_bits() != computed.to_bits();
    }
    let unit = 10_f64.powf(-(decimals as f64));
    (printed - computed).abs() > unit / 2.0 + 1e-6 * computed.abs().max(1.0)
}
