//! Documents, plots and the first screen after training, drawn from plain values.
//!
//! - [`Document`]: paragraphs, tables and plots, as text, Markdown or HTML.
//! - [`Plot`]: a distribution over many runs, or curves and counts of one model, in a document. [`Heatmap`]: the attention
//!   matrices of one head or of several.
//! - [`Screen`]: the first screen after training.

mod document;
pub mod markup;
mod plots;
mod screen;
mod svg;
pub mod terminal;
pub mod theme;
mod words;

pub use document::{Document, Listing, Numbers, PrintedNumber, Section, Table, evenly_spread};
pub use plots::{
    BarColumn, BarTable, ColourRange, Curve, GridPlot, Heatmap, HistogramPlot, Plot, Quantity,
    largest,
};
pub use screen::{Screen, ScreenPart, ScreenWord, Weights};
pub use terminal::ColourMode;
pub use words::{counted, number, shorten, shorten_apart, wrap};
