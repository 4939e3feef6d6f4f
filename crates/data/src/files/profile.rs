//! What the columns of a file hold, to choose among them.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::io::{BufRead, Read};

use super::error::FileError;
use super::formats::Format;
use super::jsonl::{Keys, object, plain};
use super::labels::whole_number;
use super::line_ends;
use super::records::{Records, cell};
use headlight_input::{LINE_LIMIT, Lines};

/// Columns are judged by the first rows of a file: at most this many, and this many bytes.
const ROWS: usize = 10_000;
const BYTES: usize = 1 << 24;

/// How much of a value messages show, in characters.
const SHOWN: usize = 24;

/// The columns of a file, as its first rows fill them.
#[derive(Debug, Default)]
pub struct Profile {
    pub(super) rows: usize,
    pub(super) columns: Vec<Column>,
    /// Whether samples are token ids.
    pub(super) has_tokens: bool,
    /// Whether the case of names matters, as in JSON.
    pub(super) is_exact: bool,
}

/// What a column holds in the rows that fill it.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) filled: usize,
    pub(super) different: usize,
    pub(super) are_whole: bool,
    pub(super) are_numbers: bool,
    /// Values that are dates.
    pub(super) dates: usize,
    /// Whether all values are names or numbers, not lists or objects.
    pub(super) are_plain: bool,
    pub(super) words: usize,
    /// Characters of scripts that may have no blanks between words.
    pub(super) wide: usize,
    /// The first value.
    pub(super) first: String,
    hashes: HashSet<u64>,
}

impl Column {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            filled: 0,
            different: 0,
            are_whole: true,
            are_numbers: true,
            dates: 0,
            are_plain: true,
            words: 0,
            wide: 0,
            first: String::new(),
            hashes: HashSet::new(),
        }
    }

    fn add(&mut self, value: &str) {
        let value = value.trim();
        if value.is_empty() {
            return;
        }
        if self.filled == 0 {
            value.clone_into(&mut self.first);
        }
        self.filled += 1;
        self.are_whole &= whole_number(value).is_some();
        self.are_numbers &= value.parse::<f64>().is_ok();
        self.dates += usize::from(is_date(value));
        self.words += value.split_whitespace().count();
        self.wide += value.chars().filter(|&c| c >= '\u{e00}').count();
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        self.different += usize::from(self.hashes.insert(hasher.finish()));
    }

    /// The name, with the first value.
    pub(super) fn example(&self) -> String {
        let mut start: String = self.first.chars().take(SHOWN).collect();
        if start.len() < self.first.len() {
            start += "...";
        }
        format!("`{}` (\"{start}\")", self.name)
    }
}

/// Whether a value is a day, such as 2024-03-01, 1/3/2024 or 01.03.2024, with or without a time.
fn is_date(value: &str) -> bool {
    let day = value.split([' ', 'T']).next().unwrap_or_default();
    ['-', '/', '.'].into_iter().any(|separator| {
        let parts: Vec<&str> = day.split(separator).collect();
        let are_digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        parts.iter().all(are_digits) && matches!(lengths[..], [4, 1..=2, 1..=2] | [1..=2, 1..=2, 4])
    })
}

impl Profile {
    /// Reads the first rows of a file. `name` is what messages call it.
    ///
    /// # Errors
    /// When the bytes are damaged, or hold no rows.
    pub fn read(
        reader: impl Read,
        format: Format,
        name: impl fmt::Display,
    ) -> Result<Self, FileError> {
        match format {
            Format::Npz => Ok(Self {
                has_tokens: true,
                ..Self::default()
            }),
            Format::Txt => Err(FileError::new(
                name,
                "a text file has no labels; set data.task = \"next-token\" in a config, or give a .csv, .tsv or .jsonl file",
            )),
            Format::Csv => Self::read_table(reader, name),
            Format::Jsonl => {
                let read = Self::of_lines(line_ends::text(reader));
                let profile = read.map_err(|message| FileError::new(&name, message))?;
                profile.filled(&name)
            }
        }
    }

    /// As [`read`](Self::read), of a table.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_table(reader: impl Read, name: impl fmt::Display) -> Result<Self, FileError> {
        let read = Self::of_table(line_ends::text(reader));
        let profile = read.map_err(|message| FileError::new(&name, message))?;
        profile.filled(&name)
    }

    /// Refuses a file without rows.
    fn filled(self, name: impl fmt::Display) -> Result<Self, FileError> {
        if self.rows == 0 {
            let message = "it holds no samples: below the names of its columns it has no row";
            return Err(FileError::new(name, message));
        }
        Ok(self)
    }

    fn of_table(reader: impl BufRead) -> Result<Self, String> {
        let mut records = Records::new(reader)?;
        let Some(place) = records.next_place()? else {
            return Err("the file is empty".to_owned());
        };
        let mut profile = Self::default();
        for column in 0..records.record.len() {
            let name =
                cell(&records.record, column).map_err(|error| format!("{place}: {error}"))?;
            let number = name.to_ascii_lowercase();
            let number = number.strip_prefix("token_").map(str::parse::<u32>);
            profile.has_tokens |= matches!(number, Some(Ok(_)));
            profile.columns.push(Column::new(name));
        }
        let mut bytes = 0;
        while profile.rows < ROWS && bytes < BYTES {
            let Some(place) = records.next_place()? else {
                break;
            };
            for (index, column) in profile.columns.iter_mut().enumerate() {
                let value = cell(&records.record, index);
                column.add(value.map_err(|error| format!("{place}: {error}"))?);
            }
            profile.rows += 1;
            bytes += records.record.as_slice().len();
        }
        Ok(profile)
    }

    fn of_lines(reader: impl BufRead) -> Result<Self, String> {
        let mut lines = Lines::new(reader, LINE_LIMIT);
        let mut profile = Self {
            is_exact: true,
            ..Self::default()
        };
        while profile.rows < ROWS && lines.read <= BYTES as u64 {
            let next = lines.next_filled();
            let number = lines.number;
            let at = |reason: String| format!("line {number}: {reason}");
            let Some(text) = next.map_err(|error| at(error.to_string()))? else {
                break;
            };
            profile.add_object(&object(&text).map_err(at)?);
        }
        Ok(profile)
    }

    /// Columns come in the order of the keys of the first line; keys that later lines add, after them.
    fn add_object(&mut self, Keys(keys): &Keys) {
        self.rows += 1;
        for (key, value) in keys {
            self.has_tokens |= key == "tokens" && value.is_array();
            let found = self.columns.iter().position(|column| column.name == *key);
            let index = found.unwrap_or_else(|| {
                self.columns.push(Column::new(key));
                self.columns.len() - 1
            });
            let column = &mut self.columns[index];
            match plain(value) {
                Some(text) => column.add(&text),
                None => column.are_plain = false,
            }
        }
    }
}
