//! What a reader should know of the rows of a file: labels that differ in writing alone, values and labels that are missing.

use super::rows::{Rows, value};
use crate::words::VALUE_END;

/// Labels that usually stand for a missing one, in lower case.
const MISSING: [&str; 5] = ["na", "n/a", "nan", "null", "<na>"];

impl Rows {
    /// A sentence for each of these: two labels that hardly differ; empty cells of these columns, if they
    /// are the samples; labels that read as missing.
    pub fn notes(&self, features: &[String]) -> Vec<String> {
        let mut sentences = self.labels.notes();
        for (column, name) in features.iter().enumerate().filter(|_| self.are_values()) {
            let empty = value(name, "");
            let own = |row: usize| self.text(row).split_inclusive(VALUE_END).nth(column);
            let is_empty = |&row: &usize| own(row) == Some(&*empty);
            if let Some(rows) = self.share((0..self.len()).filter(is_empty)) {
                let empty = empty.trim_end_matches(VALUE_END);
                sentences.push(format!(
                    "the column `{name}` is empty in {rows}; the empty cell is a value of its own, `{empty}`: if it should not \
                     be, fill these cells in, or delete the rows"
                ));
            }
        }
        for index in 0..self.labels.len() as u32 {
            let label = self.labels.text(index);
            let has_it = |&row: &usize| self.label(row) == Some(index);
            if MISSING.contains(&label.to_lowercase().as_str())
                && let Some(rows) = self.share((0..self.len()).filter(has_it))
            {
                sentences.push(format!(
                    "the label `{label}` of {rows}, is a class of its own; if it stands for a missing label, delete these rows"
                ));
            }
        }
        sentences
    }

    /// A number of rows among all, and the first of them; `None` if there are none.
    fn share(&self, mut rows: impl Iterator<Item = usize>) -> Option<String> {
        let first = self.place(rows.next()?);
        Some(format!(
            "{} of {} rows, first in {first}",
            1 + rows.count(),
            self.len()
        ))
    }
}
