//! A walkthrough as a document.

use headlight_report::{Document, Numbers, PrintedNumber, Section, Table};

use crate::{Computed, Published, Stage, Walkthrough, WorkedCase};

impl Walkthrough {
    /// The tables of all cases.
    pub fn document(&self) -> Document {
        let source = self.source.as_ref();
        let from = source.map(|source| format!("From: {source}. {}", self.count()));
        let mut paragraphs: Vec<String> = from.into_iter().collect();
        paragraphs.extend(self.about.clone());
        Document {
            title: self.title.clone(),
            paragraphs,
            sections: self.sections(),
        }
    }

    /// The document as HTML: a step at a time, and with tokens that the reader types.
    ///
    /// # Errors
    /// When serialization fails.
    pub fn html(&self) -> serde_json::Result<String> {
        let numbers = serde_json::to_string(self)?;
        Ok(headlight_page::stepwise(&self.document(), &numbers))
    }

    fn sections(&self) -> Vec<Section> {
        let before = std::iter::once(None).chain(self.cases.iter().map(Some));
        let cases = self.cases.iter().zip(before);
        cases.map(|(case, before)| section(case, before)).collect()
    }

    fn count(&self) -> String {
        let published: usize = self.cases.iter().map(|case| case.published.len()).sum();
        match (published, self.errata) {
            (0, _) => "It prints none of these numbers.".to_owned(),
            (_, 0) => "Its numbers agree.".to_owned(),
            (1, _) => "The number that it prints differs.".to_owned(),
            (_, 1) => format!("Of {published} comparisons with its numbers, one differs."),
            (_, errata) => format!("Of {published} comparisons with its numbers, {errata} differ."),
        }
    }
}

/// The section of a case. Inputs that are the same as in the previous case are only named.
fn section(case: &WorkedCase, before: Option<&WorkedCase>) -> Section {
    let is_repeated = |stage: &&Computed| {
        stage.stage.is_input()
            && before.is_some_and(|before| before.stages.contains(stage))
            && case
                .published
                .iter()
                .all(|entry| entry.stage != stage.stage)
    };
    let repeated = case.stages.iter().filter(is_repeated);
    let names: Vec<String> = repeated.map(|stage| title(stage.stage)).collect();
    let mut paragraphs: Vec<String> = case.about.iter().cloned().collect();
    if !names.is_empty() {
        paragraphs.push(format!("As before: {}.", names.join(", ")));
    }
    let shown = case.stages.iter().filter(|stage| !is_repeated(stage));
    Section {
        title: case.title.clone().unwrap_or_default(),
        paragraphs,
        tables: shown.map(|stage| table(stage, &case.published)).collect(),
        ..Section::default()
    }
}

/// The title of a stage's table.
fn title(stage: Stage) -> String {
    stage.name().replace('_', " ")
}

fn table(computed: &Computed, published: &[Published]) -> Table {
    let published = || {
        published
            .iter()
            .filter(|entry| entry.stage == computed.stage)
    };
    let printed = published().flat_map(|entry| {
        (0..entry.columns.len()).map(|index| PrintedNumber {
            row: entry.row,
            column: entry.columns[index],
            value: entry.values[index],
            decimals: entry.decimals,
            differs: entry.differs[index],
        })
    });
    let notes = published().filter_map(|entry| {
        let note = entry.note.as_ref()?;
        Some(format!("{}: {note}", computed.rows[entry.row]))
    });
    Table::from(Numbers {
        title: title(computed.stage),
        how: computed.how.clone(),
        rows: computed.rows.clone(),
        columns: computed.columns.clone(),
        values: computed.matrix.0.clone(),
        shaded: computed.stage == Stage::Weights,
        printed: printed.collect(),
        notes: notes.collect(),
    })
}
