//! Summarises a results file: counts, statistics, tables and plots.

mod all_runs;
mod asked;
mod cells;
mod classes;
mod columns;
mod comparison;
mod document;
mod folds;
mod grid_map;
mod groups;
mod learning_curve;
mod padding;
mod positions;
mod row_values;
mod shown;
mod standouts;
mod statistics;
#[allow(clippy::module_inception)] // The type itself, beside its parts.
mod summary;
mod target;
mod uniform;
mod values;

pub use summary::Summary;
pub use target::AttentionTarget;
pub use values::Values;
