//! Compares the numbers that a document prints with the computed ones.

use toml::Spanned;

use crate::Stage;
use crate::compute::Computed;
use crate::keys::PublishedKeys;
use crate::mistake::{MistakeAt, count};

/// The most decimals that float32 numbers can be compared to.
const MOST_DECIMALS: usize = 6;

/// The numbers that a document prints for one row of a stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The stage.
    pub stage: Stage,
    /// The index of the row, among the rows shown.
    pub row: usize,
    /// The printed numbers.
    pub cells: Vec<Cell>,
    /// The decimals that they are rounded to.
    pub decimals: usize,
    /// Why they differ.
    pub note: Option<String>,
}

/// One number that a document prints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Its column.
    pub column: usize,
    /// The number printed.
    pub value: f64,
    /// The number computed.
    pub computed: f32,
    /// Whether they differ by more than rounding.
    pub differs: bool,
}

impl Published {
    /// Whether any of the numbers is wrong.
    pub fn is_erratum(&self) -> bool {
        self.cells.iter().any(|cell| cell.differs)
    }

    /// Compares an entry with the computed stages.
    pub(crate) fn check(
        entry: &Spanned<PublishedKeys>,
        stages: &[Computed],
    ) -> Result<Self, MistakeAt> {
        let wrong = |message: String| MistakeAt::new(entry.span(), message);
        let given = entry.get_ref();
        let name = given.stage.name();
        let Some(stage) = stages.iter().find(|stage| stage.stage == given.stage) else {
            let present: Vec<&str> = stages.iter().map(|stage| stage.stage.name()).collect();
            return Err(wrong(format!(
                "this case has no stage `{name}`; its stages are {}",
                present.join(", ")
            )));
        };
        if given.decimals > MOST_DECIMALS {
            return Err(wrong(format!(
                "`decimals` is {}; float32 can be compared to at most {MOST_DECIMALS}",
                given.decimals
            )));
        }
        let row = given
            .row
            .find(&stage.rows)
            .map_err(|message| wrong(format!("`row` of `{name}`: {message}")))?;
        let columns = match &given.columns {
            None => (0..stage.columns.len()).collect(),
            Some(labels) => labels
                .iter()
                .map(|label| label.find(&stage.columns))
                .collect::<Result<Vec<usize>, String>>()
                .map_err(|message| wrong(format!("`columns` of `{name}`: {message}")))?,
        };
        if columns.len() != given.values.len() {
            return Err(wrong(format!(
                "{} given for {} of `{name}`",
                count(given.values.len(), "value"),
                count(columns.len(), "column")
            )));
        }
        if given.values.iter().any(|value| value.is_nan()) {
            return Err(wrong("a value is NaN; it must be a number".to_owned()));
        }
        let cells = columns
            .into_iter()
            .zip(&given.values)
            .map(|(column, &value)| {
                let computed = stage.matrix.row(row)[column];
                Cell {
                    column,
                    value,
                    computed,
                    differs: differs(value, f64::from(computed), given.decimals),
                }
            });
        Ok(Self {
            stage: given.stage,
            row,
            cells: cells.collect(),
            decimals: given.decimals,
            note: given.note.as_deref().map(one_line),
        })
    }
}

/// Whether the computed number cannot be rounded to the printed one: they differ by more than half a unit of the
/// last decimal, plus a small tolerance for float32.
fn differs(printed: f64, computed: f64, decimals: usize) -> bool {
    if printed.is_infinite() || computed.is_infinite() {
        return printed.to_bits() != computed.to_bits();
    }
    let unit = 10_f64.powf(-(decimals as f64));
    (printed - computed).abs() > unit / 2.0 + 1e-6 * computed.abs().max(1.0)
}

/// Joins a text to one line, and replaces control characters.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(char::is_control, "\u{fffd}")
}
