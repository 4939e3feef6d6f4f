//! Which columns of a table are its samples and its labels: those that are named, or that have a usual name; of two columns, the
//! one whose values repeat is the labels.

use std::collections::HashSet;

use super::labels::whole_number;
use super::samples::token_number;
use super::table::{CellKind, Form, SampleTable, listed};
use crate::config::ColumnNames;

/// Names that columns of labels usually have. The first one goes before the others.
pub const LABELS: [&str; 8] = [
    "label",
    "labels",
    "class",
    "target",
    "category",
    "sentiment",
    "mood",
    "y",
];

/// Names that columns of texts usually have. The first one goes before the others.
pub const TEXTS: [&str; 7] = [
    "text", "texts", "sentence", "review", "comment", "message", "tweet",
];

/// The most different labels of a column: with more, it likely holds measured values.
const MAX_LABELS: usize = 256;

/// A column of more different values than this is a measurement or a name, not a choice among categories.
const MAX_VALUES: usize = 100;

/// The columns that hold samples and labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnChoice {
    /// What the samples are.
    pub samples: ChosenSamples,
    /// The columns of samples and labels.
    pub columns: ColumnNames,
    /// The columns that are neither, and why categories are left out.
    pub left_out: Vec<(String, &'static str)>,
}

/// What samples are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenSamples {
    /// Token ids with a label.
    Tokens,
    /// Token ids, each of which has a label.
    LabelledTokens,
    /// Texts.
    Texts,
    /// Categories.
    Categories,
}

/// Why no columns were chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceError {
    /// What is wrong.
    pub message: String,
    /// The keys whose columns the user has to name, of `text` and `label`, if that helps.
    pub to_name: &'static [&'static str],
}

const NOT_WHOLE: &str = "numbers with fractions or exponents, or of 2^53 and above";
const TEXT: &[&str] = &["text"];
const LABEL: &[&str] = &["label"];
const BOTH: &[&str] = &["label", "text"];

fn refused<T>(
    to_name: &'static [&'static str],
    message: impl Into<String>,
) -> Result<T, ChoiceError> {
    Err(ChoiceError {
        message: message.into(),
        to_name,
    })
}

impl ColumnChoice {
    /// One line that says what was chosen.
    pub fn describe(&self) -> String {
        let label = self.columns.label_name();
        let mut line = match self.samples {
            ChosenSamples::LabelledTokens => {
                return "samples: token ids; labels: `labels`, one per token".to_owned();
            }
            ChosenSamples::Tokens => return format!("samples: token ids; labels: `{label}`"),
            ChosenSamples::Texts => {
                let text = self.columns.text_name();
                format!("samples: the texts of column `{text}`; labels: column `{label}`")
            }
            ChosenSamples::Categories => {
                let features = listed(&self.columns.features);
                format!("samples: the columns {features}; labels: column `{label}`")
            }
        };
        let left_out = self.left_out.iter().map(|(name, reason)| match *reason {
            "" => format!("`{name}`"),
            reason => format!("`{name}` ({reason})"),
        });
        let left_out: Vec<String> = left_out.collect();
        if !left_out.is_empty() {
            line += "; left out: ";
            line += &left_out.join(", ");
        }
        line
    }
}

/// What a column holds in the rows that fill it.
struct ColumnContent<'a> {
    name: &'a str,
    filled: usize,
    different: HashSet<&'a str>,
    are_whole: bool,
    are_numbers: bool,
    /// Whether no value is a list or an object.
    are_plain: bool,
    /// The first value, as it is written.
    first: &'a str,
    /// A value that is written differently.
    other: Option<&'a str>,
}

impl ColumnContent<'_> {
    /// Whether its values are names or whole numbers that occur again.
    fn repeats(&self) -> bool {
        let different = self.different.len();
        let are_names = self.are_plain && (self.are_whole || !self.are_numbers);
        are_names && different > 0 && 2 * different <= self.filled
    }

    /// Why it is not one of categories.
    fn unsuitable(&self) -> Option<&'static str> {
        match self {
            _ if !self.are_plain => Some("lists or objects"),
            _ if self.filled == 0 => Some("empty"),
            _ if self.are_numbers && !self.are_whole => Some(NOT_WHOLE),
            _ if self.different.len() > MAX_VALUES => Some("more than 100 different values"),
            _ if !self.repeats() => Some("most values occur once"),
            _ => None,
        }
    }

    fn check_text(&self) -> Result<(), ChoiceError> {
        let (name, first) = (self.name, self.first);
        let held = match self {
            _ if !self.are_plain => "lists or objects".to_owned(),
            _ if self.are_numbers && self.filled > 0 => {
                format!("numbers, such as {}", first.trim())
            }
            _ => return Ok(()),
        };
        refused(TEXT, format!("the column `{name}` holds {held}, not texts"))
    }

    fn check_label(&self, is_named: bool) -> Result<(), ChoiceError> {
        let (name, different) = (self.name, self.different.len());
        let reason = match self.filled {
            _ if !self.are_plain => "holds lists or objects, not labels".to_owned(),
            0 => "has no labels: all its cells are empty".to_owned(),
            _ if self.are_numbers && !self.are_whole => {
                format!("holds {NOT_WHOLE}, not classes such as low and high")
            }
            // Of labels that differ in blanks, the reader of the samples says which are one.
            _ if different == 1 && self.other.is_none() => format!(
                "has one label, `{}`; training needs at least two classes",
                self.first.trim()
            ),
            filled if different == filled && filled > 2 => {
                "has a different label in each row, like an id; a class needs several rows"
                    .to_owned()
            }
            _ if different > MAX_LABELS && !is_named => format!(
                "has more than {MAX_LABELS} different labels; a label is a class, not a measured value"
            ),
            _ => return Ok(()),
        };
        refused(LABEL, format!("the column `{name}` {reason}"))
    }
}

impl SampleTable {
    /// Chooses the columns of samples and labels.
    ///
    /// # Errors
    /// When no column fits or several do: names them.
    pub fn choose(&self, named: &ColumnNames) -> Result<ColumnChoice, ChoiceError> {
        let as_named = |samples| ColumnChoice {
            samples,
            columns: named.clone(),
            left_out: Vec::new(),
        };
        match self.form {
            Form::Lines => {
                return refused(
                    &[],
                    "a text file has no labels; name it as data.file in a config with data.task = \"next-token\" and \
                     model.attention.mask = \"causal\", or give a .csv, .tsv or .jsonl file with labels",
                );
            }
            Form::Arrays(_) => return Ok(as_named(ChosenSamples::Tokens)),
            Form::Cells { .. } | Form::Objects(_) => {}
        }
        let columns = self.contents();
        let is_tokens = |column: &ColumnContent<'_>| match self.form {
            Form::Objects(_) => column.name == "tokens" && !column.are_plain,
            _ => token_number(column.name).is_some(),
        };
        let has_features = !named.features.is_empty();
        let has_tokens = named.text.is_none() && !has_features && columns.iter().any(is_tokens);
        let is_label = |column: &ColumnContent<'_>| {
            column.name == named.label_name() && column.filled == self.len()
        };
        let is_labels = |column: &ColumnContent<'_>| column.name == "labels" && !column.are_plain;
        if has_tokens && columns.iter().any(is_labels) && !columns.iter().any(is_label) {
            return Ok(as_named(ChosenSamples::LabelledTokens));
        }
        let named_label = named.label.as_ref().and_then(|name| self.find(name));
        let mut text = None;
        if !has_tokens && !has_features {
            text = self.called(named.text.as_ref(), &TEXTS, named_label, TEXT)?;
        }
        let is_known = has_tokens || text.is_some() || has_features;
        let label = self.called(named.label.as_ref(), &LABELS, text, LABEL)?;
        let weight = self.weight_column(named);
        let is_left = |index: usize, column: &ColumnContent<'_>| {
            let is_sample = has_tokens && is_tokens(column)
                || named.features.iter().any(|name| name == column.name)
                || weight == Some(index);
            // A column without a name numbers the rows.
            let is_other = ["", "split"].contains(&&*column.name.to_ascii_lowercase());
            ![text, label].contains(&Some(index)) && !is_sample && !is_other
        };
        let all = columns.iter().enumerate();
        let rest = all.filter(|&(index, column)| is_left(index, column));
        let mut rest: Vec<&ColumnContent<'_>> = rest.map(|(_, column)| column).collect();
        let label = match label {
            Some(label) => &columns[label],
            None => self.left_as_label(&rest, is_known)?,
        };
        label.check_label(named.label.is_some())?;
        rest.retain(|column| column.name != label.name);
        let mut text = text.map(|text| &columns[text]);
        // Of two columns, the other one is texts.
        if let ([other], false) = (&rest[..], is_known)
            && !other.repeats()
            && other.check_text().is_ok()
        {
            text = Some(other);
            rest.clear();
        }
        let mut chosen = as_named(ChosenSamples::Tokens);
        chosen.columns.label = Some(label.name.to_owned());
        chosen.columns.text = text.map(|text| text.name.to_owned());
        if let Some(text) = text {
            text.check_text()?;
            chosen.samples = ChosenSamples::Texts;
            let left_out = rest.iter().map(|column| (column.name.to_owned(), ""));
            chosen.left_out = left_out.collect();
        } else if !has_tokens {
            chosen.samples = ChosenSamples::Categories;
            for column in rest.iter().filter(|_| !has_features) {
                match column.unsuitable() {
                    Some(reason) => chosen.left_out.push((column.name.to_owned(), reason)),
                    None => chosen.columns.features.push(column.name.to_owned()),
                }
            }
            if chosen.columns.features.is_empty() {
                let message = format!(
                    "besides the labels in `{}`, no column holds categories, and none has a usual name for texts; {}",
                    label.name,
                    self.listed()
                );
                return refused(TEXT, message);
            }
        }
        Ok(chosen)
    }

    /// What the columns hold.
    fn contents(&self) -> Vec<ColumnContent<'_>> {
        let column = |name| ColumnContent {
            name,
            filled: 0,
            different: HashSet::new(),
            are_whole: true,
            are_numbers: true,
            are_plain: true,
            first: "",
            other: None,
        };
        let mut columns: Vec<ColumnContent<'_>> =
            self.columns.iter().map(|name| column(name)).collect();
        for cell in (0..self.len()).flat_map(|row| self.cells(row)) {
            let column = &mut columns[cell.column];
            let text = cell.text.trim();
            if cell.kind == CellKind::Nested {
                column.are_plain = false;
            } else if !text.is_empty() {
                if column.filled == 0 {
                    column.first = cell.text;
                }
                column.filled += 1;
                column.are_whole &= whole_number(text).is_some();
                column.are_numbers &= text.parse::<f64>().is_ok();
                column.other = column
                    .other
                    .or(Some(cell.text).filter(|&text| text != column.first));
                column.different.insert(text);
            }
        }
        columns
    }

    /// The column that the user names, or else another one than `except` that has a usual name.
    fn called(
        &self,
        named: Option<&String>,
        usual: &[&str],
        except: Option<usize>,
        to_name: &'static [&'static str],
    ) -> Result<Option<usize>, ChoiceError> {
        if let Some(name) = named {
            return match self.find(name) {
                None => refused(
                    to_name,
                    format!("it has no column `{name}`; {}", self.listed()),
                ),
                found => Ok(found),
            };
        }
        let is_usual = |&column: &usize| {
            let name = &self.columns[column];
            Some(column) != except && usual.iter().any(|usual| usual.eq_ignore_ascii_case(name))
        };
        let found: Vec<usize> = (0..self.columns.len()).filter(is_usual).collect();
        let first = self.find(usual[0]).filter(|first| found.contains(first));
        match found[..] {
            [column] => Ok(Some(column)),
            [_, _, ..] if first.is_none() => {
                let names = found.iter().map(|&column| &self.columns[column]);
                let names = listed(&names.collect::<Vec<_>>());
                refused(
                    to_name,
                    format!(
                        "several columns have a name that is usual for texts or labels: {names}"
                    ),
                )
            }
            _ => Ok(first),
        }
    }

    /// The column of labels among those that are left: the only one beside samples, or else, of two, the one that repeats.
    fn left_as_label<'a, 'b>(
        &self,
        rest: &[&'a ColumnContent<'b>],
        is_known: bool,
    ) -> Result<&'a ColumnContent<'b>, ChoiceError> {
        let found: Vec<&ColumnContent<'_>> = match rest {
            [only] if is_known => vec![only],
            [_, _] if !is_known => rest
                .iter()
                .copied()
                .filter(|column| column.repeats())
                .collect(),
            _ => Vec::new(),
        };
        match found[..] {
            [label] if label.different.contains(label.name) => refused(
                LABEL,
                format!(
                    "its first line should name the columns, such as `text,label`, but `{0}` also occurs as a label below, so this line \
                     seems to be a sample; add a line of names, or, if `{0}` is the column's name, choose it as the labels",
                    label.name
                ),
            ),
            [label] => Ok(label),
            _ => refused(
                if is_known { LABEL } else { BOTH },
                format!(
                    "no column is named as labels usually are, such as `label` or `class`; {}",
                    self.listed()
                ),
            ),
        }
    }
}
