//! The page of a study: findings, what was published beside what its rows show, figures, tables.

use headlight_inspector::{Document, Plot, Section, Table};

/// Whether a published value and ours agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The published value lies in the interval of ours.
    Agrees,
    /// It does not.
    Differs,
    /// What was published is of another protocol or another model, or is a claim without a number.
    NotComparable,
    /// Nothing was published, as far as was looked.
    NotPublished,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::NotComparable => "not comparable",
            Self::NotPublished => "not published to us",
        }
    }

    /// Of a published value beside the interval of ours.
    pub(crate) fn of(published: f64, interval: Option<[f64; 2]>) -> Self {
        match interval {
            None => Self::NotComparable,
            Some([low, high]) if (low..=high).contains(&published) => Self::Agrees,
            Some(_) => Self::Differs,
        }
    }
}

/// A published value beside ours.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The quantity.
    pub quantity: String,
    /// The published value, if there is one.
    pub published: Option<String>,
    /// Ours.
    pub ours: String,
    /// Its 95% interval, or its range over seeds.
    pub interval: String,
    /// The verdict.
    pub verdict: Verdict,
}

/// What the page says.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// What was found, in sentences.
    pub findings: Vec<String>,
    /// Published values beside ours.
    pub compared: Vec<Compared>,
    /// What a reader must know of the protocol before the verdicts.
    pub how: Vec<String>,
    /// Figures.
    pub figures: Vec<Plot>,
    /// More tables.
    pub tables: Vec<Table>,
}

impl Page {
    /// As a document. `title` and `source` are the study's; `parts` says what was run.
    pub fn document(&self, title: &str, source: &str, parts: Table) -> Document {
        let section = |title: &str| Section {
            title: title.to_owned(),
            ..Section::default()
        };
        let header = ["quantity", "published", "ours", "95% interval", "verdict"];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        rows.extend(self.compared.iter().map(|compared| {
            let published = compared.published.clone();
            vec![
                compared.quantity.clone(),
                published.unwrap_or_else(|| "–".to_owned()),
                compared.ours.clone(),
                compared.interval.clone(),
                compared.verdict.words().to_owned(),
            ]
        }));
        let mut sections = vec![
            Section {
                paragraphs: self.findings.clone(),
                ..section("Findings")
            },
            Section {
                paragraphs: self.how.clone(),
                tables: vec![parts],
                ..section("How")
            },
            Section {
                tables: vec![Table::of_text("", "", rows).left_aligned(&["verdict"])],
                ..section("Published and ours")
            },
        ];
        if !self.figures.is_empty() {
            sections.push(Section {
                plots: self.figures.clone(),
                ..section("Figures")
            });
        }
        if !self.tables.is_empty() {
            sections.push(Section {
                tables: self.tables.clone(),
                ..section("Tables")
            });
        }
        Document {
            title: title.to_owned(),
            paragraphs: vec![format!("{source}.")],
            sections,
        }
    }
}
