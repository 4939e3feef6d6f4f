//! Pictures of attention, from dumps alone.
//!
//! [`Heatmap`] is one matrix of one head; [`terminal`] draws it.

mod colour;
mod heatmap;
pub mod terminal;

pub use colour::ColourMode;
pub use heatmap::{Heatmap, Quantity};
