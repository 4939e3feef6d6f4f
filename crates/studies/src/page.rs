//! The page of a study: findings, what was published beside what its rows show, figures, tables.

use headlight_inspector::{Document, Plot, Section, Table};

/// Whether a published value and ours agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A test does not tell the two apart.
    Agrees,
    /// It does.
    Differs,
    /// What was published is of another protocol or another model, or is a claim without a number, or our runs are too few.
    NotComparable,
    /// Nothing that was published was found.
    NotPublished,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::NotComparable => "not comparable",
            Self::NotPublished => "no published value found",
        }
    }

    /// Of two shares, each a count and how many were counted: whether they differ at the level 0.05, by the test of two proportions.
    pub(crate) fn of_shares([a, n]: [usize; 2], [b, m]: [usize; 2]) -> Self {
        let [a, n, b, m] = [a, n, b, m].map(|count| count as f64);
        let all = (a + b) / (n + m);
        let deviation = (all * (1.0 - all) * (1.0 / n + 1.0 / m)).sqrt();
        if (a / n - b / m).abs() <= 1.96 * deviation {
            Self::Agrees
        } else {
            Self::Differs
        }
    }
}

/// An interval with so many decimals; a dash for none.
pub(crate) fn between(interval: Option<[f64; 2]>, decimals: usize) -> String {
    match interval {
        None => "–".to_owned(),
        Some([low, high]) => format!("{low:.decimals$} to {high:.decimals$}"),
    }
}

/// An interval of a share, in percent with so many decimals.
pub(crate) fn percents([low, high]: [f64; 2], decimals: usize) -> String {
    let [low, high] = [100.0 * low, 100.0 * high];
    format!("{low:.decimals$}% to {high:.decimals$}%")
}

/// A table whose first row is its header.
pub(crate) fn table(
    title: &str,
    how: &str,
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Table {
    let header = header.iter().map(|&name| name.to_owned()).collect();
    let rows = [header].into_iter().chain(rows).collect();
    Table::of_text(title, how, rows)
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

/// A section whose paragraphs stand apart in Markdown, too.
fn apart(title: &str, paragraphs: &[String]) -> Vec<Section> {
    let mut sections: Vec<Section> = paragraphs
        .iter()
        .map(|paragraph| Section::of_paragraph(paragraph.clone()))
        .collect();
    if let Some(first) = sections.first_mut() {
        title.clone_into(&mut first.title);
    }
    sections
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
        let rows = self.compared.iter().map(|compared| {
            let published = compared.published.clone();
            vec![
                compared.quantity.clone(),
                published.unwrap_or_else(|| "–".to_owned()),
                compared.ours.clone(),
                compared.interval.clone(),
                compared.verdict.words().to_owned(),
            ]
        });
        let header = ["quantity", "published", "ours", "95% interval", "verdict"];
        let compared = table("", "", &header, rows).left_aligned(&["verdict"]);
        let mut sections = apart("Findings", &self.findings);
        sections.extend(apart("How", &self.how));
        sections.extend([
            Section {
                tables: vec![parts],
                ..Section::default()
            },
            Section {
                tables: vec![compared],
                ..section("Published and ours")
            },
        ]);
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
