//! Paragraphs, tables, listings and plots, drawn as text, Markdown and HTML.

mod html;
mod listing;
mod markdown;
mod numbers;
mod table;
mod text;

use crate::plots::{self, Plot};

pub use listing::Listing;
pub use numbers::{Numbers, PrintedNumber};
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

/// Paragraphs, tables, listings and plots that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Its title; a section without one continues the section before it.
    pub title: String,
    /// Paragraphs before its tables, listings and plots.
    pub paragraphs: Vec<String>,
    /// Its tables.
    pub tables: Vec<Table>,
    /// Its listings.
    pub listings: Vec<Listing>,
    /// Its plots. Text and Markdown show the histograms among them.
    pub plots: Vec<Plot>,
}

impl Section {
    /// A section with a title, without listings and plots.
    pub fn titled(
        title: &str,
        paragraphs: impl IntoIterator<Item = String>,
        tables: impl IntoIterator<Item = Table>,
    ) -> Self {
        Self {
            title: title.to_owned(),
            paragraphs: paragraphs.into_iter().collect(),
            tables: tables.into_iter().collect(),
            ..Self::default()
        }
    }

    /// A paragraph by itself, without a title.
    pub fn of_paragraph(paragraph: String) -> Self {
        Self {
            paragraphs: vec![paragraph],
            ..Self::default()
        }
    }
}

/// What the signs before printed numbers mean.
const LEGEND: &str = "The number after = or ≠ is the document's own. =: rounded to the same digits, the computed one agrees. ≠: it differs.";

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
