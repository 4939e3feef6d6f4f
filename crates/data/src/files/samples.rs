//! The samples of a table: what each row holds, with its label and its split.

use serde_json::Value;

use super::error::FileError;
use super::jsonl::{content, kind};
use super::labels::{Label, whole_number};
use super::rows::{Rows, SampleContent, is_held_out, value, words};
use super::table::{Cell, CellKind, Form, Table};
use crate::config::ColumnNames;
use crate::order::order;

/// The most characters of a label in a note.
const SHOWN: usize = 40;

/// Where a table has what its samples hold.
enum Holding {
    /// A column of texts, and one of lists of tokens, which a row may have in its place.
    TextOrTokens(Option<usize>, Option<usize>),
    /// Columns of tokens, by number.
    Tokens(Vec<usize>),
    /// Columns of categories, with the names that the config has.
    Values(Vec<(String, usize)>),
}

impl Holding {
    /// Refuses a column of two uses: a label among what is read would give the answer away.
    fn checked(self, label: Option<usize>, names: &[String]) -> Result<Self, String> {
        let mut all: Vec<usize> = match &self {
            &Self::TextOrTokens(text, tokens) => text.into_iter().chain(tokens).collect(),
            Self::Tokens(columns) => columns.clone(),
            Self::Values(columns) => columns.iter().map(|&(_, column)| column).collect(),
        };
        all.extend(label);
        match (1..all.len()).find(|&place| all[..place].contains(&all[place])) {
            None => Ok(self),
            Some(place) => Err(format!(
                "has one column, `{}`, for two things; name another in data.text, data.features or data.label",
                names[all[place]]
            )),
        }
    }
}

/// Where a table has labels and splits.
struct Marks {
    label: Option<usize>,
    /// Labels per token.
    labels: Option<usize>,
    split: Option<usize>,
}

impl Table {
    /// The samples of the columns that a config names.
    ///
    /// # Errors
    /// When a column is missing, or holds something else than samples: says where and what.
    pub fn samples(&self, named: &ColumnNames) -> Result<Rows, FileError> {
        if !self.has_columns() && *named != ColumnNames::default() {
            return Err(self.refuse(
                "data.text, data.label and data.features name columns of CSV or keys of JSONL, which it does not have; remove them"
            ));
        }
        let mut rows = Rows::new(&self.name);
        let done = match &self.form {
            Form::Arrays(rows) => return Ok(rows.as_ref().clone()),
            // Unlike lines to predict, empty ones need no answer.
            Form::Lines => self.push_texts(false, &mut rows),
            Form::Cells { .. } | Form::Objects(_) => self.push_samples(named, &mut rows),
        };
        rows.finished(done)
    }

    /// The lines of a text file as samples: a text each, or token ids, separated by blanks or commas.
    ///
    /// # Errors
    /// As [`samples`](Self::samples).
    pub fn lines(&self, are_texts: bool) -> Result<Rows, FileError> {
        let mut rows = Rows::new(&self.name);
        let done = if are_texts {
            self.push_texts(true, &mut rows)
        } else {
            self.push_ids(&mut rows)
        };
        rows.finished(done)
    }

    fn push_texts(&self, keeps_empty: bool, rows: &mut Rows) -> Result<(), String> {
        for row in 0..self.len() {
            let text = self.cells(row).next().map_or("", |cell| cell.text);
            if keeps_empty || !text.trim().is_empty() {
                rows.push(
                    self.place(row),
                    false,
                    None,
                    SampleContent::Text(&words(text)),
                )?;
            }
        }
        Ok(())
    }

    fn push_ids(&self, rows: &mut Rows) -> Result<(), String> {
        let mut tokens = Vec::new();
        for row in 0..self.len() {
            tokens.clear();
            let text = self.cells(row).next().map_or("", |cell| cell.text);
            let ids = text.split(|c: char| c.is_whitespace() || c == ',');
            for id in ids.filter(|id| !id.is_empty()) {
                let token = id.parse::<i64>();
                tokens.push(token.map_err(|_| {
                    let place = self.place(row);
                    format!("{place}: `{id}` is not a token id; write whole numbers")
                })?);
            }
            if !tokens.is_empty() {
                rows.push(self.place(row), false, None, SampleContent::Tokens(&tokens))?;
            }
        }
        Ok(())
    }

    fn push_samples(&self, named: &ColumnNames, rows: &mut Rows) -> Result<(), String> {
        let marks = Marks {
            label: self.find(named.label_name()),
            labels: self.find("labels").filter(|_| self.is_json()),
            split: self.find("split"),
        };
        rows.unlabelled = named.label.as_ref().filter(|_| marks.label.is_none()).map(|name| {
            format!(
                "it has no column `{name}`, in which data.label expects the labels; add it, or rename the column of labels; {}",
                self.listed()
            )
        });
        let holding = self.holding(named, marks.label);
        let holding = holding.and_then(|holding| holding.checked(marks.label, &self.columns));
        let holding = holding.map_err(|reason| match self.form {
            Form::Cells { header, .. } => format!("line {header}: the header {reason}"),
            _ => format!("it {reason}"),
        })?;
        for row in 0..self.len() {
            self.push_row(row, &holding, &marks, rows)?;
        }
        Ok(())
    }

    pub(super) fn is_json(&self) -> bool {
        matches!(self.form, Form::Objects(_))
    }

    /// Where the samples are. Reasons follow the name of the header.
    fn holding(&self, named: &ColumnNames, label: Option<usize>) -> Result<Holding, String> {
        let column = |name: &String, key: &str| {
            let found = self.find(name);
            found.ok_or_else(|| {
                format!(
                    "has no column `{name}`, which data.{key} names; {}",
                    self.listed()
                )
            })
        };
        if !named.features.is_empty() {
            let columns = named.features.iter().map(|name| {
                let found = column(name, "features")?;
                Ok((name.clone(), found))
            });
            return Ok(Holding::Values(columns.collect::<Result<_, String>>()?));
        }
        if let Some(name) = &named.text {
            let text = column(name, "text")?;
            return Ok(Holding::TextOrTokens(Some(text), None));
        }
        let text = self.find("text").filter(|&text| Some(text) != label);
        if self.is_json() {
            return Ok(Holding::TextOrTokens(text, self.find("tokens")));
        }
        let tokens = self.token_columns()?;
        match (tokens.is_empty(), text) {
            (false, _) => Ok(Holding::Tokens(tokens)),
            (true, Some(_)) => Ok(Holding::TextOrTokens(text, None)),
            (true, None) => Err(format!(
                "has no column of texts or tokens; name the columns of tokens token_0, token_1, and so on; if they are texts or \
                 categories, the config to train needs data.text or data.features; {}",
                self.listed()
            )),
        }
    }

    /// The columns that are called `token_0`, `token_1` and so on, in the order of the numbers.
    pub(super) fn token_columns(&self) -> Result<Vec<usize>, String> {
        let columns = self.columns.iter().enumerate();
        let found: Vec<(u32, usize)> = columns
            .filter_map(|(column, name)| Some((token_number(name)?, column)))
            .collect();
        let by_number = order(found.len(), &|one, other| found[one].cmp(&found[other]));
        let tokens: Vec<(u32, usize)> = by_number.into_iter().map(|place| found[place]).collect();
        for pair in tokens.windows(2) {
            let [(before, _), (number, column)] = [pair[0], pair[1]];
            if number == before {
                return Err(format!("names column token_{number} twice"));
            }
            if number > before + 1 {
                let name = &self.columns[column];
                return Err(format!("names `{name}`, but not token_{}", number - 1));
            }
        }
        Ok(tokens.into_iter().map(|(_, column)| column).collect())
    }

    fn push_row(
        &self,
        row: usize,
        holding: &Holding,
        marks: &Marks,
        rows: &mut Rows,
    ) -> Result<(), String> {
        let place = self.place(row);
        let at = |reason: String| format!("{place}: {reason}");
        let filled = |column: Option<usize>| {
            let cell = self.cell(row, column?)?;
            let is_empty = cell.kind == CellKind::Null
                || cell.kind == CellKind::Text && cell.text.trim().is_empty();
            (!is_empty).then_some(cell)
        };
        let split = marks.split.and_then(|column| self.cell(row, column));
        let split = split.filter(|cell| cell.kind != CellKind::Null);
        let held_out = split
            .map_or(Ok(false), |cell| is_held_out(cell.text.trim()))
            .map_err(at)?;
        let own = filled(marks.label);
        let label = own.map_or(Ok(None), |cell| label_of(cell.kind, cell.text));
        let label = label.map_err(at)?;
        if let (Some(label), Some(cell)) = (&label, own) {
            // JSON tells `1` from `"1"`.
            let is_quoted = self.is_json() && cell.kind == CellKind::Text;
            let quote = if is_quoted { "\"" } else { "" };
            let text: String = cell.text.chars().take(SHOWN).collect();
            let written = format!("{quote}{text}{quote}");
            rows.labels.note_written(label, written);
        }
        match holding {
            Holding::Values(columns) => {
                let values = columns
                    .iter()
                    .map(|(name, column)| match self.cell(row, *column) {
                        Some(cell) if cell.kind == CellKind::Nested => Err(at(format!(
                            "the value of `{name}` is a list or an object; write a name or a number"
                        ))),
                        cell => Ok(value(name, cell.map_or("", |cell| cell.text))),
                    });
                let text = values.collect::<Result<String, String>>()?;
                rows.push(place, held_out, label, SampleContent::Text(&text))
            }
            Holding::Tokens(columns) => {
                let tokens = self.tokens(row, columns).map_err(at)?;
                rows.push(place, held_out, label, SampleContent::Tokens(&tokens))
            }
            &Holding::TextOrTokens(text, tokens) => {
                if let Some(cell) = filled(tokens) {
                    let tokens = ids(cell).map_err(at)?;
                    let Some(labels) = filled(marks.labels).filter(|_| label.is_none()) else {
                        return rows.push(place, held_out, label, SampleContent::Tokens(&tokens));
                    };
                    let labels = list(labels, "labels", "labels").map_err(at)?;
                    let labels = labels.iter().map(|label| {
                        let (kind, text) = content(label);
                        label_of(kind, &text)
                    });
                    return rows.push_each(place, held_out, labels, &tokens);
                }
                match text.and_then(|column| self.cell(row, column)) {
                    Some(Cell {
                        kind: CellKind::Text,
                        text,
                        ..
                    }) => rows.push(place, held_out, label, SampleContent::Text(&words(text))),
                    Some(Cell {
                        kind: CellKind::Null,
                        ..
                    }) => Err(at("the text is null".to_owned())),
                    Some(_) => Err(at("the text is not a string".to_owned())),
                    // A short row of a table ends before its text.
                    None if !self.is_json() => {
                        rows.push(place, held_out, label, SampleContent::Text(""))
                    }
                    None => {
                        let name = text.map_or("text", |column| &self.columns[column]);
                        Err(at(format!(
                            "the line has neither `{name}` nor `tokens`; name the key of the text in data.text"
                        )))
                    }
                }
            }
        }
    }

    /// The tokens of a row. Empty cells at its end make it shorter.
    fn tokens(&self, row: usize, columns: &[usize]) -> Result<Vec<i64>, String> {
        let mut tokens = Vec::with_capacity(columns.len());
        let mut empty = None;
        for &column in columns {
            let text = self.cell(row, column).map_or("", |cell| cell.text.trim());
            match (text, empty) {
                ("", _) => empty = empty.or(Some(column)),
                (_, Some(empty)) => {
                    return Err(format!(
                        "cell {} is empty, but a token comes after it",
                        empty + 1
                    ));
                }
                (text, None) => {
                    let token = whole_number(text);
                    tokens.push(token.ok_or_else(|| format!("`{text}` is not a whole number"))?);
                }
            }
        }
        Ok(tokens)
    }
}

/// The number in the name of a column of tokens.
pub(super) fn token_number(column: &str) -> Option<u32> {
    let name = column.to_ascii_lowercase();
    name.strip_prefix("token_")?.parse().ok()
}

/// The token ids of a list.
fn ids(cell: Cell<'_>) -> Result<Vec<i64>, String> {
    let tokens = list(cell, "tokens", "token ids")?;
    let ids = tokens.iter().enumerate().map(|(place, token)| {
        let shown = if token.is_number() {
            token.to_string()
        } else {
            kind(token).to_owned()
        };
        token.as_i64().ok_or_else(|| {
            format!(
                "`tokens`, value {}: {shown} is not a token id; write a whole number",
                place + 1
            )
        })
    });
    ids.collect()
}

/// The values of a list under a key, which `what` names.
fn list(cell: Cell<'_>, key: &str, what: &str) -> Result<Vec<Value>, String> {
    let value = match cell.kind {
        CellKind::Text => Value::from(cell.text),
        _ => serde_json::from_str(cell.text).unwrap_or_default(),
    };
    match value {
        Value::Array(values) => Ok(values),
        other => Err(format!(
            "`{key}` is {}, not a list of {what}; write it as [7, 3]",
            kind(&other)
        )),
    }
}

/// A label; `None` for null.
fn label_of(kind: CellKind, text: &str) -> Result<Option<Label>, String> {
    match kind {
        CellKind::Null => Ok(None),
        CellKind::Text | CellKind::Plain => Label::of_text(text).map(Some),
        CellKind::Nested => Err("the label must be a number, a name, true or false".to_owned()),
    }
}
