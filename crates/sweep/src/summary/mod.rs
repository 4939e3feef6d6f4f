//! Summarises a results file: counts, statistics, tables and plots.

mod all_runs;
mod cells;
mod columns;
mod comparison;
mod document;
mod facts;
mod folds;
mod grid_map;
mod groups;
mod lists;
mod standouts;
mod statistics;
#[allow(clippy::module_inception)] // The type itself, beside its parts.
mod summary;
mod target;
mod values;

pub use summary::{ReportChoices, Summary};
pub use values::Values;
