//! What a results file says as a whole.

mod columns;
mod document;
mod groups;
mod statistics;
#[allow(clippy::module_inception)] // The summary itself, beside what it is made of and shown as.
mod summary;
mod target;

pub use summary::Summary;
pub use target::AttentionTarget;
