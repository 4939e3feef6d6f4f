//! Paragraphs, tables and plots, drawn as text, Markdown, HTML and SVG.

mod html;
mod markdown;
mod numbers;
mod svg;
mod table;
mod text;

use crate::plots::{self, Plot};

pub use numbers::{Numbers, Printed};
pub use table::{Table, evenly_spread};

/// A document, independent of the form in which it is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// Paragraphs before the first section.
    pub paragraphs: Vec<String>,
    /// Its sections, in order.
    pub sections: Vec<Section>,
}

/// Tables and plots that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Its title; empty for no title.
    pub title: String,
    /// Paragraphs before its tables and plots.
    pub paragraphs: Vec<String>,
    /// Its tables.
    pub tables: Vec<Table>,
    /// Its plots. Text and Markdown show the histograms among them; `svg` shows none.
    pub plots: Vec<Plot>,
}

/// What the signs before printed numbers mean.
const LEGEND: &str = "A number after = is the document's, and agrees with the computed one after the same rounding; \
                      one after ≠ differs.";

impl Document {
    /// All its plots as one SVG picture, without text and tables.
    pub fn plots_svg(&self) -> String {
        let plots = self.sections.iter().flat_map(|section| &section.plots);
        plots::svg(&self.title, plots)
    }

    /// The legend, if a document's numbers stand beside its own.
    fn legend(&self) -> Option<&'static str> {
        let mut tables = self.sections.iter().flat_map(|section| &section.tables);
        tables.any(Table::is_marked).then_some(LEGEND)
    }
}
