//! What the header of a table says: where each column is.

use std::collections::HashSet;

use csv::ByteRecord;

use super::records::cell;
use crate::config;

/// The most columns that a message names.
const LISTED: usize = 12;

/// Where the header has each column.
pub(super) struct Columns {
    pub(super) count: usize,
    pub(super) label: Option<usize>,
    /// Why there are no labels, if the config names a column that is missing.
    pub(super) unlabelled: Option<String>,
    pub(super) split: Option<usize>,
    pub(super) content: Holding,
}

/// Where the header has what samples hold.
pub(super) enum Holding {
    Text(usize),
    /// Columns of tokens, by number.
    Tokens(Vec<usize>),
    /// Columns of categories, with their names.
    Values(Vec<(usize, String)>),
}

impl Columns {
    pub(super) fn of(header: &ByteRecord, named: &config::Columns) -> Result<Self, String> {
        let mut names = Vec::with_capacity(header.len());
        for column in 0..header.len() {
            names.push(cell(header, column)?);
        }
        let position = |name: &str| find(names.iter().copied(), name);
        let missing = |name: &str, key: &str| {
            format!(
                "the header has no column `{name}`, which data.{key} names; its columns are {}",
                listed(&names)
            )
        };
        let label = position(named.label_name());
        let unlabelled = match &named.label {
            Some(name) if label.is_none() => Some(format!(
                "it has no column `{name}`, in which data.label expects the labels; add it, or rename the column of labels; its columns are {}",
                listed(&names)
            )),
            _ => None,
        };
        let text = match &named.text {
            Some(name) => Some(position(name).ok_or_else(|| missing(name, "text"))?),
            None => position("text").filter(|&text| Some(text) != label),
        };
        if let Some(column) = text.filter(|&text| Some(text) == label) {
            return Err(format!(
                "the column `{}` cannot be both texts and labels",
                names[column]
            ));
        }
        let mut tokens: Vec<(u32, usize)> = Vec::new();
        let mut different = HashSet::new();
        for (column, name) in names.iter().enumerate() {
            if !name.is_empty() && !different.insert(name) {
                return Err(format!("the header names the column `{name}` twice"));
            }
            let number = name.to_ascii_lowercase();
            let number = number.strip_prefix("token_").map(str::parse);
            tokens.extend(number.and_then(Result::ok).map(|number| (number, column)));
        }
        let found = |content| Self {
            count: names.len(),
            label,
            unlabelled: unlabelled.clone(),
            split: position("split"),
            content,
        };
        if !named.features.is_empty() {
            let column = |name: &String| {
                let column = position(name).ok_or_else(|| missing(name, "features"))?;
                Ok((column, name.clone()))
            };
            let columns = named.features.iter().map(column);
            return Ok(found(Holding::Values(
                columns.collect::<Result<_, String>>()?,
            )));
        }
        if let Some(column) = text.filter(|_| named.text.is_some() || tokens.is_empty()) {
            return Ok(found(Holding::Text(column)));
        }
        if tokens.is_empty() {
            let remedy = format!(
                "name the columns of tokens token_0, token_1, and so on; if they are texts or categories, the config to \
                 train needs data.text or data.features; its columns are {}",
                listed(&names)
            );
            return Err(format!(
                "the header has no column of texts or tokens; {remedy}"
            ));
        }
        tokens.sort_unstable();
        for pair in tokens.windows(2) {
            let [(before, _), (number, column)] = [pair[0], pair[1]];
            if number == before {
                return Err(format!("the header names column token_{number} twice"));
            }
            if number > before + 1 {
                return Err(format!(
                    "the header names `{}`, but not token_{}",
                    names[column],
                    number - 1
                ));
            }
        }
        let columns = tokens.into_iter().map(|(_, column)| column);
        Ok(found(Holding::Tokens(columns.collect())))
    }
}

/// The column of a name: the one that is written so, or else the only one that differs from it in case alone.
pub(super) fn find<'a>(names: impl Iterator<Item = &'a str> + Clone, name: &str) -> Option<usize> {
    let name = name.trim();
    let exact = names.clone().position(|found| found == name);
    let mut like = names
        .enumerate()
        .filter(|(_, found)| found.eq_ignore_ascii_case(name));
    exact.or_else(|| match (like.next(), like.next()) {
        (Some((only, _)), None) => Some(only),
        _ => None,
    })
}

/// The names of columns or keys, for messages.
pub(super) fn listed(names: &[impl AsRef<str>]) -> String {
    let shown = names.iter().take(LISTED);
    let mut shown: Vec<String> = shown.map(|name| format!("`{}`", name.as_ref())).collect();
    if names.len() > LISTED {
        shown.push(format!("and {} more", names.len() - LISTED));
    }
    shown.join(", ")
}
