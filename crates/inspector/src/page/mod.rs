//! Tables of numbers beside those that a document prints.

mod cells;
mod html;
mod svg;
mod terminal;

pub(crate) use html::STYLE;

/// A document's examples: sections of tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// What it shows.
    pub title: String,
    /// Where it is from and what there is to see, a paragraph each.
    pub paragraphs: Vec<String>,
    /// What it shows, in order.
    pub sections: Vec<Section>,
}

/// Tables that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// What sets it apart from the others; empty where there are no others.
    pub title: String,
    /// What there is to see, a paragraph each.
    pub paragraphs: Vec<String>,
    /// Its tables.
    pub tables: Vec<Table>,
}

/// A matrix with names for its rows and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it holds.
    pub title: String,
    /// How it comes about.
    pub how: String,
    /// The names of its rows.
    pub rows: Vec<String>,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Row-major. `[row, column]`
    pub values: Vec<f32>,
    /// Whether the values are shares, from 0 to 1, to be shaded.
    pub shaded: bool,
    /// What a document prints of them.
    pub printed: Vec<Printed>,
    /// Why numbers differ from those printed, a line each.
    pub notes: Vec<String>,
}

/// A number that a document prints for a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed {
    /// The cell's row.
    pub row: usize,
    /// The cell's column.
    pub column: usize,
    /// The number printed.
    pub value: f64,
    /// Decimals that it is printed with.
    pub decimals: usize,
    /// Whether it differs from the cell's by more than rounding does.
    pub differs: bool,
}

/// The most columns of a table that a picture shows.
const MOST_COLUMNS: usize = 256;

/// What the marks mean, for a reader.
const LEGEND: &str = "A number after = is the document's and agrees with the one computed, rounded as the document rounds; \
                      one after ≠ differs.";

impl Page {
    /// Whether a document's numbers are beside those computed.
    fn has_printed(&self) -> bool {
        let mut tables = self.sections.iter().flat_map(|section| &section.tables);
        tables.any(|table| !table.printed.is_empty())
    }
}

impl Table {
    /// How many columns a picture shows, and a sentence on the others.
    fn fitting(&self) -> (usize, Option<String>) {
        let count = self.columns.len();
        let shown = count.min(MOST_COLUMNS);
        let rest = (shown < count).then(|| {
            format!(
                "columns {shown} to {} are left out; JSON holds them",
                count - 1
            )
        });
        (shown, rest)
    }
}
