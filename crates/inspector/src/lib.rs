//! Pictures of attention, from dumps alone, and of distributions over runs.
//!
//! [`Heatmap`] is one matrix of one head; [`terminal`] draws it, and it is an SVG picture; [`png()`]
//! makes pixels of those. [`Histogram`] counts values of many
//! runs; [`distribution`] draws several side by side. [`Page`] is tables of numbers beside those that
//! a document prints, as text, HTML and SVG; [`Sheet`] is what many runs come to. [`Viewer`] is the dumps
//! of runs as one page to look around in.

mod colour;
pub mod distribution;
mod heatmap;
mod heatmap_svg;
mod histogram;
mod markup;
mod page;
mod png;
mod sheet;
pub mod terminal;
mod viewer;

pub use colour::ColourMode;
pub use heatmap::{Heatmap, Quantity};
pub use histogram::Histogram;
pub use page::{Page, Printed, Section, Table};
pub use png::{PngError, png};
pub use sheet::{Cells, Sheet};
pub use viewer::{Evidence, LossPoint, OwnRow, Recording, SeedRow, Seeds, Viewer};
