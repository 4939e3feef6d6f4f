//! Pictures of attention, from dumps alone, and of distributions over runs.
//!
//! [`Heatmap`] is one matrix of one head; [`terminal`] draws it. [`Histogram`] counts values of many
//! runs; [`distribution`] draws several side by side.

mod colour;
pub mod distribution;
mod heatmap;
mod histogram;
pub mod terminal;

pub use colour::ColourMode;
pub use heatmap::{Heatmap, Quantity};
pub use histogram::Histogram;
