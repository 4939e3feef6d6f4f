//! Lines of text whose blanks stay as they are, such as a printed matrix.

use crate::words::{left, right, shorten, width};

/// Lines under a title. They are not broken, and characters of one width draw them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// What the lines are; may be empty.
    pub title: String,
    /// The lines.
    pub lines: Vec<String>,
}

/// The longest name of a row or column.
const MAX_NAME_COLUMNS: usize = 16;

impl Listing {
    /// A square matrix with three decimals, whose rows and columns have these names.
    ///
    /// # Panics
    /// When there are not as many cells as pairs of names.
    pub fn of_matrix(title: String, names: &[String], cells: &[f32]) -> Self {
        assert_eq!(cells.len(), names.len().pow(2), "a cell for each pair");
        let names: Vec<String> = names
            .iter()
            .map(|name| shorten(name, MAX_NAME_COLUMNS))
            .collect();
        let side = names.iter().map(|name| width(name)).max().unwrap_or(0);
        let line = |name: &str, cells: &mut dyn Iterator<Item = String>| {
            let cells = cells.zip(&names);
            let cells = cells.map(|(cell, above)| right(&cell, width(above).max("0.000".len())));
            let cells: Vec<String> = cells.collect();
            format!("{}  {}", left(name, side), cells.join("  "))
        };
        let rows = names.iter().zip(cells.chunks(names.len().max(1)));
        let rows = rows.map(|(name, row)| {
            let mut numbers = row.iter().map(|cell| format!("{cell:.3}"));
            line(name, &mut numbers)
        });
        let head = line("", &mut names.iter().cloned());
        Self {
            title,
            lines: [head].into_iter().chain(rows).collect(),
        }
    }
}
