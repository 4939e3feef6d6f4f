//! A walkthrough as a page to draw.

use headlight_inspector::{Page, Printed, Section, Table};

use crate::{Computed, Published, Stage, Walkthrough, WorkedCase};

impl Walkthrough {
    /// The page that shows it.
    pub fn page(&self) -> Page {
        let source = self.source.as_ref();
        let from = source.map(|source| format!("From: {source}. {}", self.count()));
        let mut paragraphs: Vec<String> = from.into_iter().collect();
        paragraphs.extend(self.about.clone());
        Page {
            title: self.title.clone(),
            paragraphs,
            sections: self.cases.iter().map(section).collect(),
        }
    }

    fn count(&self) -> String {
        let published: usize = self.cases.iter().map(|case| case.published.len()).sum();
        match (published, self.errata()) {
            (0, _) => "It prints no numbers of these.".to_owned(),
            (_, 0) => "The numbers that it prints agree.".to_owned(),
            (_, 1) => "One of the rows that it prints differs.".to_owned(),
            (rows, errata) => format!("Of {rows} rows that it prints, {errata} differ."),
        }
    }
}

fn section(case: &WorkedCase) -> Section {
    Section {
        title: case.title.clone().unwrap_or_default(),
        paragraphs: case.about.iter().cloned().collect(),
        tables: case
            .stages
            .iter()
            .map(|stage| table(stage, &case.published))
            .collect(),
    }
}

fn table(computed: &Computed, published: &[Published]) -> Table {
    let published = || {
        published
            .iter()
            .filter(|entry| entry.stage == computed.stage)
    };
    let printed = published().flat_map(|entry| {
        entry.cells.iter().map(|cell| Printed {
            row: entry.row,
            column: cell.column,
            value: cell.value,
            decimals: entry.decimals,
            differs: cell.differs,
        })
    });
    let notes = published().filter_map(|entry| {
        let note = entry.note.as_ref()?;
        Some(format!("{}: {note}", computed.rows[entry.row]))
    });
    Table {
        title: computed.stage.name().replace('_', " "),
        how: computed.how.clone(),
        rows: computed.rows.clone(),
        columns: computed.columns.clone(),
        values: computed.matrix.values.clone(),
        shaded: computed.stage == Stage::Weights,
        printed: printed.collect(),
        notes: notes.collect(),
    }
}
