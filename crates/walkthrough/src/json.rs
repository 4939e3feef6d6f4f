//! A walkthrough as JSON.

use serde::Serialize;

use crate::{Computed, Published, Stage, Walkthrough, WorkedCase};

#[derive(Serialize)]
struct Document<'a> {
    title: &'a str,
    source: Option<&'a str>,
    about: Option<&'a str>,
    errata: usize,
    cases: Vec<Case<'a>>,
}

#[derive(Serialize)]
struct Case<'a> {
    title: Option<&'a str>,
    about: Option<&'a str>,
    factor: f64,
    temperature: f64,
    stages: Vec<Numbers<'a>>,
    published: Vec<Printed<'a>>,
}

#[derive(Serialize)]
struct Numbers<'a> {
    stage: Stage,
    how: &'a str,
    rows: &'a [String],
    columns: &'a [String],
    /// `null` is minus infinity, where a mask blocks; JSON cannot express infinity.
    values: Vec<&'a [f32]>,
}

#[derive(Serialize)]
struct Printed<'a> {
    stage: Stage,
    row: usize,
    columns: Vec<usize>,
    values: Vec<f64>,
    computed: Vec<f32>,
    differs: Vec<bool>,
    decimals: usize,
    erratum: bool,
    note: Option<&'a str>,
}

impl Walkthrough {
    /// All stages and comparisons as JSON. Among numbers, `null` is minus infinity.
    ///
    /// # Errors
    /// When serialization fails.
    pub fn json(&self) -> serde_json::Result<String> {
        let document = Document {
            title: &self.title,
            source: self.source.as_deref(),
            about: self.about.as_deref(),
            errata: self.errata(),
            cases: self.cases.iter().map(case).collect(),
        };
        serde_json::to_string(&document)
    }
}

fn case(case: &WorkedCase) -> Case<'_> {
    Case {
        title: case.title.as_deref(),
        about: case.about.as_deref(),
        factor: case.factor,
        temperature: case.temperature,
        stages: case.stages.iter().map(numbers).collect(),
        published: case.published.iter().map(printed).collect(),
    }
}

fn numbers(computed: &Computed) -> Numbers<'_> {
    let matrix = &computed.matrix;
    Numbers {
        stage: computed.stage,
        how: &computed.how,
        rows: &computed.rows,
        columns: &computed.columns,
        values: (0..matrix.rows).map(|row| matrix.row(row)).collect(),
    }
}

fn printed(published: &Published) -> Printed<'_> {
    let cells = &published.cells;
    Printed {
        stage: published.stage,
        row: published.row,
        columns: cells.iter().map(|cell| cell.column).collect(),
        values: cells.iter().map(|cell| cell.value).collect(),
        computed: cells.iter().map(|cell| cell.computed).collect(),
        differs: cells.iter().map(|cell| cell.differs).collect(),
        decimals: published.decimals,
        erratum: published.is_erratum(),
        note: published.note.as_deref(),
    }
}
