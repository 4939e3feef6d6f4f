//! Which columns of a file are its samples and its labels, if the user does not say so.

use super::header::{find, listed};
use super::profile::{Column, Profile};
use crate::config::Columns;

/// Names that columns of labels usually have, beside `label`.
pub const LABELS: [&str; 13] = [
    "labels",
    "class",
    "classes",
    "target",
    "category",
    "sentiment",
    "y",
    "mood",
    "topic",
    "intent",
    "outcome",
    "species",
    "survived",
];

/// Names that columns of texts usually have, beside `text`.
pub const TEXTS: [&str; 17] = [
    "texts",
    "sentence",
    "sentences",
    "review",
    "reviews",
    "comment",
    "message",
    "content",
    "tweet",
    "question",
    "answer",
    "body",
    "title",
    "description",
    "document",
    "headline",
    "utterance",
];

/// Names of columns that tell rows apart, and so are neither samples nor labels.
const IDS: [&str; 19] = [
    "", "id", "ids", "index", "row", "name", "names", "uuid", "url", "link", "email", "address",
    "path", "file", "filename", "user", "username", "author", "split",
];

/// The most classes of a column that is taken for labels by its values alone.
const FEW: usize = 20;

/// The most different labels of a column: with more, it likely holds measured values.
const LABELS_OF_COLUMN: usize = 256;

/// A column of more different values than this is a measurement or a name, not a choice among categories.
const MOST_VALUES: usize = 100;

/// With fewer rows than this, values that occur once may still be categories.
const MANY_ROWS: usize = 20;

/// The columns that hold samples and labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Token ids; the column of labels, if it is not `label`.
    Tokens {
        /// The column of labels.
        label: Option<String>,
        /// Whether each token has a label.
        has_each: bool,
    },
    /// Texts.
    Texts {
        /// Their column.
        text: String,
        /// The column of labels.
        label: String,
        /// The columns that are neither.
        left_out: Vec<String>,
    },
    /// Categories.
    Features {
        /// Their columns.
        features: Vec<String>,
        /// The column of labels.
        label: String,
        /// Columns that are not categories, and why.
        left_out: Vec<(String, &'static str)>,
    },
}

impl Choice {
    /// What was chosen, in one line.
    pub fn describe(&self) -> String {
        match self {
            Self::Tokens { has_each: true, .. } => {
                "samples: token ids; labels: `labels`, one per token".to_owned()
            }
            Self::Tokens { label, .. } => {
                let label = label.as_deref().unwrap_or("label");
                format!("samples: token ids; labels: `{label}`")
            }
            Self::Texts {
                text,
                label,
                left_out,
            } => {
                let line =
                    format!("samples: the texts of column `{text}`; labels: column `{label}`");
                match &left_out[..] {
                    [] => line,
                    names => format!("{line}; left out: {}", listed(names)),
                }
            }
            Self::Features {
                features,
                label,
                left_out,
            } => {
                let features = listed(features);
                let mut line = format!("samples: the columns {features}; labels: column `{label}`");
                let left_out: Vec<String> = left_out
                    .iter()
                    .map(|(name, reason)| match &**name {
                        "" => "the column without a name".to_owned(),
                        name => format!("`{name}` ({reason})"),
                    })
                    .collect();
                if !left_out.is_empty() {
                    line.push_str("; left out: ");
                    line.push_str(&left_out.join(", "));
                }
                line
            }
        }
    }
}

impl Profile {
    /// Chooses the columns: those that are named; else by their names; else by what they hold.
    ///
    /// # Errors
    /// When no column fits or several do: names them, and says how to choose.
    pub fn choose(&self, named: &Columns) -> Result<Choice, String> {
        let named_text = named.text.as_deref();
        let named_text = named_text
            .map(|name| self.find("--text", name))
            .transpose()?;
        if self.has_tokens && named_text.is_none() && named.features.is_empty() {
            let mut columns = self.columns.iter();
            let has_each = columns.any(|column| column.name == "labels" && !column.are_plain);
            let label = if self.columns.is_empty() || has_each {
                named.label.clone()
            } else {
                Some(self.label(named, None)?.name.clone())
            };
            return Ok(Choice::Tokens { label, has_each });
        }
        let text = match named_text {
            Some(text) => Some(text),
            None if !named.features.is_empty() => None,
            None => self.text(named)?,
        };
        let label = self.label(named, text)?;
        if let Some(text) = text {
            check_text(text, label)?;
            let others = self.columns.iter().map(|column| &column.name);
            let others = others.filter(|name| {
                let is_used = **name == text.name || **name == label.name;
                !is_used && !name.is_empty() && !name.eq_ignore_ascii_case("split")
            });
            return Ok(Choice::Texts {
                text: text.name.clone(),
                label: label.name.clone(),
                left_out: others.cloned().collect(),
            });
        }
        self.features(named, label)
    }

    fn features(&self, named: &Columns, label: &Column) -> Result<Choice, String> {
        let (mut features, mut left_out) = (named.features.clone(), Vec::new());
        if features.is_empty() {
            let others = self.columns.iter().filter(|column| {
                column.name != label.name && !column.name.eq_ignore_ascii_case("split")
            });
            for column in others {
                match unsuitable(column) {
                    Some(reason) => left_out.push((column.name.clone(), reason)),
                    None => features.push(column.name.clone()),
                }
            }
        }
        if features.is_empty() {
            return Err(format!(
                "no column holds texts or categories beside the labels in `{}`; name the column of texts with --text; {}",
                label.name,
                self.listed()
            ));
        }
        Ok(Choice::Features {
            features,
            label: label.name.clone(),
            left_out,
        })
    }

    /// The column of texts, if there is one.
    fn text(&self, named: &Columns) -> Result<Option<&Column>, String> {
        if let Some(column) = self.called("text") {
            return Ok(Some(column));
        }
        let is_label = |column: &&Column| {
            let label = named.label_name();
            column.name.eq_ignore_ascii_case(label)
        };
        let texts = self.columns.iter().filter(|column| !is_label(column));
        let texts = texts.filter(|column| {
            let name = column.name.to_ascii_lowercase();
            let named = TEXTS.contains(&&*name) && !column.are_numbers;
            let varied = column.different > 50 || 2 * column.different >= column.filled;
            varied && column.filled > 0 && (named || has_sentences(column) && !is_id(column))
        });
        let found: Vec<&Column> = texts.collect();
        let by_name = |column: &&&Column| TEXTS.contains(&&*column.name.to_ascii_lowercase());
        let called: Vec<&&Column> = found.iter().filter(by_name).collect();
        match (&found[..], &called[..]) {
            ([], _) => Ok(None),
            ([column], _) => Ok(Some(column)),
            (_, [column]) => Ok(Some(column)),
            (several, _) => Err(format!(
                "several columns could be the texts: {}; name one with --text",
                examples(several)
            )),
        }
    }

    /// The column of labels.
    fn label(&self, named: &Columns, text: Option<&Column>) -> Result<&Column, String> {
        if let Some(name) = &named.label {
            let column = self.find("--label", name)?;
            check_label(column, "")?;
            return Ok(column);
        }
        let remedy = "; name the column of classes with --label, or with --set data.label=NAME";
        if let Some(column) = self.called("label") {
            check_label(column, remedy)?;
            return Ok(column);
        }
        let others = self.columns.iter().filter(|column| {
            let is_text = text.is_some_and(|text| text.name == column.name);
            !is_text && !named.features.contains(&column.name)
        });
        let others: Vec<&Column> = others.collect();
        let called = others.iter().filter(|column| {
            let name = column.name.to_ascii_lowercase();
            LABELS.contains(&&*name)
        });
        let called: Vec<&Column> = called.copied().collect();
        let found = match &called[..] {
            [] => others
                .into_iter()
                .filter(|column| has_classes(column))
                .collect(),
            _ => called,
        };
        match &found[..] {
            [column] => {
                check_label(column, remedy)?;
                Ok(column)
            }
            [] => Err(format!(
                "no column looks like labels, a few names or whole numbers that occur again and again{remedy}; {}",
                self.listed()
            )),
            several => Err(format!(
                "several columns could be the labels: {}; name one with --label, or with --set data.label=NAME",
                examples(several)
            )),
        }
    }

    /// The column that an option names.
    fn find(&self, option: &str, name: &str) -> Result<&Column, String> {
        let found = self.called(name);
        found.ok_or_else(|| {
            format!(
                "{option} {name}: the file has no such column; {}",
                self.listed()
            )
        })
    }

    fn called(&self, name: &str) -> Option<&Column> {
        let names = self.columns.iter().map(|column| &*column.name);
        let found = if self.is_exact {
            names.clone().position(|column| column == name.trim())
        } else {
            find(names, name)
        };
        found.map(|column| &self.columns[column])
    }

    fn listed(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| &*column.name).collect();
        format!("its columns are {}", listed(&names))
    }
}

fn is_id(column: &Column) -> bool {
    let name = column.name.to_ascii_lowercase();
    IDS.contains(&&*name) || name.ends_with("_id") || name.starts_with("unnamed: ")
}

/// Whether the values of a column are mostly several words.
fn has_sentences(column: &Column) -> bool {
    let many_words = 2 * column.words >= 5 * column.filled;
    column.are_plain && !column.are_numbers && (many_words || column.wide >= 6 * column.filled)
}

/// Whether a column looks like labels: few different values, each of which occurs again.
fn has_classes(column: &Column) -> bool {
    let few = (2..=FEW).contains(&column.different) && 2 * column.different <= column.filled;
    let are_names = column.are_plain && (column.are_whole || !column.are_numbers);
    few && are_names && !has_sentences(column) && !is_id(column)
}

/// Why a column is not one of categories.
fn unsuitable(column: &Column) -> Option<&'static str> {
    match column {
        _ if !column.are_plain => Some("lists or objects"),
        _ if column.filled == 0 => Some("empty"),
        _ if is_id(column) => Some("tells rows apart"),
        _ if column.are_numbers && !column.are_whole => Some("numbers with fractions"),
        _ if column.dates == column.filled => Some("dates"),
        _ if column.different > MOST_VALUES => Some("more than 100 different values"),
        _ if column.filled >= MANY_ROWS && 2 * column.different > column.filled => {
            Some("most values occur once")
        }
        _ => None,
    }
}

fn check_text(text: &Column, label: &Column) -> Result<(), String> {
    let name = &text.name;
    if name == &label.name {
        return Err(format!(
            "the column `{name}` cannot be both texts and labels; name another one with --text or --label"
        ));
    }
    if !text.are_plain {
        return Err(format!(
            "the column `{name}` holds lists or objects, not texts; name the column of texts with --text"
        ));
    }
    if text.are_numbers && text.filled > 0 {
        return Err(format!(
            "the column `{name}` holds numbers, such as {}, not texts; name the column of texts with --text, or rename this one",
            text.first
        ));
    }
    if has_sentences(text) && name.split_whitespace().count() >= 5 {
        return Err("the first line looks like a sample; put a line with the names of the columns before it".to_owned());
    }
    Ok(())
}

fn check_label(label: &Column, remedy: &str) -> Result<(), String> {
    let Column {
        name,
        filled,
        different,
        first,
        ..
    } = label;
    match label {
        _ if *filled == 0 => Err(format!(
            "the column `{name}` has no labels: all its cells are empty{remedy}"
        )),
        _ if label.are_numbers && !label.are_whole => Err(format!(
            "the column `{name}` holds numbers with fractions, not classes; write classes, such as low and high{remedy}"
        )),
        _ if *different == 1 => Err(format!(
            "all rows have the label `{first}` in the column `{name}`; training needs at least two classes{remedy}"
        )),
        _ if different == filled && *filled > 2 => Err(format!(
            "the column `{name}` has a different label in each row, like an id; a class needs several rows{remedy}"
        )),
        _ if *different > LABELS_OF_COLUMN => Err(format!(
            "the column `{name}` has more than {LABELS_OF_COLUMN} different labels; a label is a class, not a measured value{remedy}"
        )),
        _ => Ok(()),
    }
}

fn examples(columns: &[&Column]) -> String {
    let shown = columns.iter().map(|column| column.example());
    shown.collect::<Vec<_>>().join(", ")
}
