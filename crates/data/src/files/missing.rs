//! What the rows of a file lack: values of columns, and labels.

use super::rows::{Rows, value};
use crate::words::VALUE_END;

/// Labels that usually stand for a missing one, in lower case.
const MISSING: [&str; 5] = ["na", "n/a", "nan", "null", "<na>"];

impl Rows {
    /// The cells of these columns, those of the samples, that are empty, and labels that read as missing: a sentence for each
    /// column and label.
    pub fn missing(&self, features: &[String]) -> Vec<String> {
        let mut sentences = Vec::new();
        // For each column: what an empty cell is, and the rows that have one, as the first and their number.
        let mut columns: Vec<(String, usize, usize)> = Vec::new();
        if self.are_values() {
            columns.extend(features.iter().map(|name| (value(name, ""), 0, 0)));
        }
        for row in (0..self.len()).rev() {
            let cells = self.text(row).split(VALUE_END);
            for ((empty, first, count), cell) in columns.iter_mut().zip(cells) {
                if cell == empty {
                    (*first, *count) = (row, *count + 1);
                }
            }
        }
        for ((empty, first, count), name) in columns.iter().zip(features) {
            if *count > 0 {
                sentences.push(format!(
                    "the column `{name}` is empty in {}, first in {}; the empty cell is a value of its own, `{empty}`: if it should not \
                     be, fill these cells in, or delete the rows",
                    self.share(*count),
                    self.place(*first)
                ));
            }
        }
        for index in 0..self.labels.len() as u32 {
            let label = self.labels.text(index);
            let has_it = |&row: &usize| self.label(row) == Some(index);
            let mut rows = (0..self.len()).filter(has_it);
            if MISSING.contains(&label.to_lowercase().as_str())
                && let Some(first) = rows.next()
            {
                sentences.push(format!(
                    "the label `{label}` of {}, first in {}, is a class of its own; if it stands for a missing label, delete these rows",
                    self.share(1 + rows.count()),
                    self.place(first)
                ));
            }
        }
        sentences
    }

    /// How many samples lack a label, for the end of the message that names the first of them; empty if it is the only one.
    pub fn without_labels(&self) -> String {
        let missing = (0..self.len()).filter(|&row| self.label(row).is_none());
        match missing.count() {
            0 | 1 => String::new(),
            count => format!(" ({} have none)", self.share(count)),
        }
    }

    /// A number of rows among all.
    fn share(&self, count: usize) -> String {
        format!("{count} of {} rows", self.len())
    }
}
