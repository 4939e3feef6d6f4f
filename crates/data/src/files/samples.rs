//! The samples of a table: what each row holds, with its label and its split.

use serde_json::Value;

use super::error::FileError;
use super::jsonl::{content, kind};
use super::labels::{Label, whole_number};
use super::rows::{
    FoundSample, Place, Rows, SampleContent, SampleLabels, Unlabelled, is_held_out, not_an_id,
    value,
};
use super::table::{Cell, CellKind, Form, SampleTable};
use crate::config::ColumnNames;
use crate::order::order;
use crate::words::Words;

/// The most characters of a label in a note.
const MAX_LABEL_CHARS: usize = 40;

/// Where a table has what its samples hold.
enum ContentColumns {
    /// A column of texts, and one of lists of tokens, which a row may have in its place.
    TextOrTokens(Option<usize>, Option<usize>),
    /// Columns of tokens, by number.
    Tokens(Vec<usize>),
    /// Columns of categories, with the names that the config has.
    Values(Vec<(String, usize)>),
}

/// Where a table has labels and splits.
struct Marks {
    label: Option<usize>,
    /// Labels per token.
    labels: Option<usize>,
    split: Option<usize>,
}

impl SampleTable {
    /// The samples of the columns that a config names.
    ///
    /// # Errors
    /// When a column is missing, or holds something else than samples: says where and what.
    pub fn samples(&self, named: &ColumnNames) -> Result<Rows, FileError> {
        if !self.has_columns() && *named != ColumnNames::default() {
            return Err(self.refuse(
                "data.text, data.label, data.sample_weight and data.features name columns of CSV or keys of JSONL, and this file has neither; remove these keys"
            ));
        }
        match &self.form {
            Form::Arrays(rows) => Ok(rows.as_ref().clone()),
            // Unlike lines to predict, empty ones need no answer.
            Form::Lines => self.unlabelled(|row| {
                let text = Some(self.line(row)).filter(|line| !line.trim().is_empty());
                Ok(text.map(|text| FoundSample::unlabelled(SampleContent::of_words(text))))
            }),
            Form::Cells { .. } | Form::Objects(_) => self.samples_of_columns(named),
        }
    }

    /// The lines of a text file as samples: a text each, or token ids, separated by blanks or commas.
    ///
    /// # Errors
    /// As [`samples`](Self::samples).
    pub fn lines(&self, are_texts: bool) -> Result<Rows, FileError> {
        self.unlabelled(|row| {
            let line = self.line(row);
            if are_texts {
                let text = SampleContent::of_words(line);
                return Ok(Some(FoundSample::unlabelled(text)));
            }
            let parts = line.split(|c: char| c.is_whitespace() || c == ',');
            let ids = parts.filter(|id| !id.is_empty()).map(|id| {
                let refused = |_| format!("`{id}` is not a token id; write whole numbers");
                id.parse().map_err(refused)
            });
            let ids: Vec<i64> = ids.collect::<Result<_, String>>()?;
            let is_empty = ids.is_empty();
            let sample = FoundSample::unlabelled(SampleContent::of_ids(ids)?);
            Ok(Some(sample).filter(|_| !is_empty))
        })
    }

    /// The text of all lines, cut into samples of `seq_len` tokens. What is left at its end is in none.
    ///
    /// # Errors
    /// When the file is no text, or has too few tokens.
    pub fn windows(&self, words: &Words, seq_len: usize) -> Result<Rows, FileError> {
        if !self.is_of_lines() {
            return Err(self.refuse(
                "one_text is about text files (.txt); give one, or remove data.words.one_text",
            ));
        }
        let seq_len = seq_len.max(1);
        let lines: Vec<&str> = (0..self.len()).map(|row| self.line(row)).collect();
        let text = words.normalized(&lines.join("\n"));
        let separator = words.separator();
        let mut tokens = words.split(&text);
        let mut windows = Vec::new();
        let (mut line, mut before) = (1, 0);
        let rest = loop {
            let window: Vec<&str> = tokens.by_ref().take(seq_len).collect();
            if window.len() < seq_len {
                break window.len();
            }
            let start = window[0].as_ptr() as usize - text.as_ptr() as usize;
            line += text[before..start].matches('\n').count() as u32;
            before = start;
            let content = SampleContent::of_words(&window.join(separator));
            windows.push((Place::Line(line), Ok(FoundSample::unlabelled(content))));
        };
        if windows.is_empty() {
            return Err(self.refuse(format!(
                "the text has {rest} tokens, and a sample has {seq_len} (data.seq_len); lower data.seq_len, or give a longer text"
            )));
        }
        Ok(Rows {
            unlabelled: Some(Unlabelled::Lines),
            are_windows: true,
            ..Rows::collect(&self.name, windows.into_iter())?
        })
    }

    /// As [`collect`](Self::collect), for lines of text.
    fn unlabelled(
        &self,
        found: impl Fn(usize) -> Result<Option<FoundSample>, String>,
    ) -> Result<Rows, FileError> {
        Ok(Rows {
            unlabelled: Some(Unlabelled::Lines),
            ..self.collect(found)?
        })
    }

    /// The samples that `found` finds in the rows, some of which may have none.
    fn collect(
        &self,
        found: impl Fn(usize) -> Result<Option<FoundSample>, String>,
    ) -> Result<Rows, FileError> {
        let found = |row| Some((self.place(row), found(row).transpose()?));
        Rows::collect(&self.name, (0..self.len()).filter_map(found))
    }

    /// The only cell of a line of text.
    fn line(&self, row: usize) -> &str {
        self.cells(row).next().map_or("", |cell| cell.text)
    }

    fn samples_of_columns(&self, named: &ColumnNames) -> Result<Rows, FileError> {
        let marks = Marks {
            label: self.find(named.label_name()),
            labels: self.find("labels").filter(|_| self.is_json()),
            split: self.find("split"),
        };
        let columns = self.content_columns(named, marks.label);
        let columns = columns.map_err(|reason| match self.form {
            Form::Cells { header, .. } => {
                self.refuse(format!("line {header}: the header {reason}"))
            }
            _ => self.refuse(format!("it {reason}")),
        })?;
        let mut rows = self.collect(|row| self.sample(row, &columns, &marks).map(Some))?;
        let no_column = || Unlabelled::NoColumn(self.listed());
        rows.unlabelled = marks.label.is_none().then(no_column);
        rows.weights = self.weight_column(named).map(|column| {
            let cells = (0..self.len()).map(|row| self.filled(row, Some(column)));
            let texts = cells.map(|cell| cell.map_or("", |cell| cell.text.trim()).to_owned());
            texts.collect()
        });
        for cell in (0..self.len()).filter_map(|row| self.filled(row, marks.label)) {
            if let Ok(Some(label)) = label_of(cell.kind, cell.text) {
                // JSON tells `1` from `"1"`.
                let is_quoted = self.is_json() && cell.kind == CellKind::Text;
                let quote = if is_quoted { "\"" } else { "" };
                let text: String = cell.text.chars().take(MAX_LABEL_CHARS).collect();
                rows.labels
                    .note_written(&label, format!("{quote}{text}{quote}"));
            }
        }
        Ok(rows)
    }

    /// The column of weights that a config names.
    pub(super) fn weight_column(&self, named: &ColumnNames) -> Option<usize> {
        self.find(named.sample_weight.as_ref()?)
    }

    pub(super) fn is_json(&self) -> bool {
        matches!(self.form, Form::Objects(_))
    }

    /// Where the samples are. Reasons follow the name of the header.
    fn content_columns(
        &self,
        named: &ColumnNames,
        label: Option<usize>,
    ) -> Result<ContentColumns, String> {
        let column = |name: &String, key: &str| {
            let found = self.find(name);
            found.ok_or_else(|| {
                format!(
                    "has no column `{name}`, which data.{key} names; {}",
                    self.listed()
                )
            })
        };
        let mut used: Vec<usize> = Vec::new();
        let found = if !named.features.is_empty() {
            let mut values = Vec::new();
            for name in &named.features {
                values.push((name.clone(), column(name, "features")?));
            }
            used.extend(values.iter().map(|&(_, column)| column));
            ContentColumns::Values(values)
        } else if let Some(name) = &named.text {
            let text = column(name, "text")?;
            used.push(text);
            ContentColumns::TextOrTokens(Some(text), None)
        } else {
            let text = self.find("text").filter(|&text| Some(text) != label);
            if self.is_json() {
                let tokens = self.find("tokens");
                used.extend(text.into_iter().chain(tokens));
                ContentColumns::TextOrTokens(text, tokens)
            } else {
                let tokens = self.token_columns()?;
                if tokens.is_empty() && text.is_none() {
                    return Err(format!(
                        "has no column of texts or tokens; name the columns of tokens token_0, token_1, and so on; if they are texts or \
                         categories, the config to train needs data.text or data.features; {}",
                        self.listed()
                    ));
                }
                if tokens.is_empty() {
                    used.extend(text);
                    ContentColumns::TextOrTokens(text, None)
                } else {
                    used.clone_from(&tokens);
                    ContentColumns::Tokens(tokens)
                }
            }
        };
        // A label among what is read would give the answer away.
        used.extend(label);
        used.extend(self.weight_column(named));
        match (1..used.len()).find(|&index| used[..index].contains(&used[index])) {
            None => Ok(found),
            Some(index) => Err(format!(
                "has one column, `{}`, for two things; name another in data.text, data.features, data.label or data.sample_weight",
                self.columns[used[index]]
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
        let tokens: Vec<(u32, usize)> = by_number.into_iter().map(|index| found[index]).collect();
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

    /// A cell that is neither empty nor null.
    fn filled(&self, row: usize, column: Option<usize>) -> Option<Cell<'_>> {
        let cell = self.cell(row, column?)?;
        let is_empty = match cell.kind {
            CellKind::Null => true,
            CellKind::Text => cell.text.trim().is_empty(),
            CellKind::Plain | CellKind::Nested => false,
        };
        (!is_empty).then_some(cell)
    }

    fn sample(
        &self,
        row: usize,
        columns: &ContentColumns,
        marks: &Marks,
    ) -> Result<FoundSample, String> {
        let split = marks.split.and_then(|column| self.cell(row, column));
        let split = split.filter(|cell| cell.kind != CellKind::Null);
        let held_out = split.map_or(Ok(false), |cell| is_held_out(cell.text.trim()))?;
        let label = self.filled(row, marks.label);
        let label = label.map_or(Ok(None), |cell| label_of(cell.kind, cell.text))?;
        let token_labels = self.filled(row, marks.labels).filter(|_| label.is_none());
        let mut labels = SampleLabels::One(label);
        let content = match columns {
            ContentColumns::Values(columns) => {
                let mut text = String::new();
                for (name, column) in columns {
                    let cell = self.cell(row, *column);
                    if cell.is_some_and(|cell| cell.kind == CellKind::Nested) {
                        return Err(format!(
                            "the value of `{name}` is a list or an object; write a name or a number"
                        ));
                    }
                    text += &value(name, cell.map_or("", |cell| cell.text));
                }
                SampleContent::Text(text)
            }
            ContentColumns::Tokens(columns) => SampleContent::of_ids(self.tokens(row, columns)?)?,
            &ContentColumns::TextOrTokens(text, tokens) => match self.filled(row, tokens) {
                Some(tokens) => {
                    if let Some(cell) = token_labels {
                        let values = list(cell, "labels", "labels")?;
                        let values = values.iter().map(|label| {
                            let (kind, text) = content(label);
                            label_of(kind, &text)
                        });
                        labels = SampleLabels::PerToken(values.collect::<Result<_, _>>()?);
                    }
                    SampleContent::of_ids(ids(tokens)?)?
                }
                None => SampleContent::of_words(self.text(row, text)?),
            },
        };
        Ok(FoundSample {
            held_out,
            labels,
            content,
        })
    }

    /// The text of a row. A short row of CSV ends before its text, which is empty.
    fn text(&self, row: usize, column: Option<usize>) -> Result<&str, String> {
        let cell = column.and_then(|column| self.cell(row, column));
        match cell.map(|cell| (cell.kind, cell.text)) {
            Some((CellKind::Text, text)) => Ok(text),
            Some((CellKind::Null, _)) => Err("the text is null".to_owned()),
            Some(_) => Err("the text is not a string".to_owned()),
            None if !self.is_json() => Ok(""),
            None => {
                let name = column.map_or("text", |column| &self.columns[column]);
                Err(format!(
                    "the line has neither `{name}` nor `tokens`; name the key of the text in data.text"
                ))
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
                    tokens.push(token.ok_or_else(|| not_an_id(&format!("`{text}`")))?);
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
    let ids = tokens.iter().enumerate().map(|(index, token)| {
        let shown = if token.is_number() {
            token.to_string()
        } else {
            kind(token).to_owned()
        };
        let id = token.as_i64().or_else(|| whole_number(&shown));
        id.ok_or_else(|| format!("`tokens`, value {}: {}", index + 1, not_an_id(&shown)))
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
