//! Checks samples as they are read from a file, and sorts them into splits.

use std::fmt;

use crate::cls::{CLS, ClsPlace};
use crate::dataset::{Dataset, Splits};

pub(super) const TRAIN: &str = "train";
pub(super) const HELD_OUT: &str = "held_out";

/// The splits with their names in files.
pub(super) fn named(splits: &Splits) -> [(&'static str, &Dataset); 2] {
    [(TRAIN, &splits.train), (HELD_OUT, &splits.held_out)]
}

/// The place of a sample in its file, for messages.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// A line of a text file, counted from 1.
    Line(u64),
    /// A sample of an array, counted from 0.
    Row(&'a str, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(array, sample) => write!(f, "`{array}`, sample {sample}"),
        }
    }
}

/// The samples read so far.
#[derive(Default)]
pub(super) struct SplitsBuilder {
    /// `None` before the first sample, which sets the length of all.
    splits: Option<Splits>,
    cls_position: usize,
    /// The sample being read.
    tokens: Vec<u32>,
}

impl SplitsBuilder {
    /// Checks a sample and appends it to its split.
    pub(super) fn push(
        &mut self,
        place: Place<'_>,
        held_out: bool,
        label: f64,
        tokens: &[i64],
    ) -> Result<(), String> {
        let splits = if let Some(splits) = &mut self.splits {
            splits
        } else {
            let seq_len = tokens.len().saturating_sub(1);
            if seq_len == 0 {
                return Err(format!("{place}: a sample is [CLS] and at least one token"));
            }
            let cls = match tokens.first() {
                Some(&token) if token == i64::from(CLS) => ClsPlace::First,
                _ => ClsPlace::Last,
            };
            self.cls_position = cls.position(seq_len);
            self.splits.insert(Splits {
                train: Dataset::empty(seq_len),
                held_out: Dataset::empty(seq_len),
            })
        };
        let positions = splits.train.positions();
        if tokens.len() != positions {
            return Err(format!(
                "{place}: the sample has {} tokens, but the first one has {positions}",
                tokens.len()
            ));
        }
        self.tokens.clear();
        for &token in tokens {
            let id = u32::try_from(token);
            let id = id.map_err(|_| format!("{place}: {token} is not a token id"))?;
            self.tokens.push(id);
        }
        let cls_count = self.tokens.iter().filter(|&&token| token == CLS).count();
        if self.tokens[self.cls_position] != CLS || cls_count != 1 {
            return Err(format!(
                "{place}: all samples must start with [CLS] = 0, or all must end with it; no other token can be 0"
            ));
        }
        if !(0.0..=f64::from(u8::MAX)).contains(&label) || label.fract() != 0.0 {
            return Err(format!(
                "{place}: label {label} is not a class; classes are whole numbers from 0 to {}",
                u8::MAX
            ));
        }
        let split = if held_out {
            &mut splits.held_out
        } else {
            &mut splits.train
        };
        split.push(&self.tokens, label as u8);
        Ok(())
    }

    pub(super) fn splits(self) -> Result<Splits, String> {
        self.splits
            .filter(|splits| !splits.train.is_empty())
            .ok_or_else(|| "the file has no training samples".to_owned())
    }
}

/// Whether the split of this name is the held-out one.
pub(super) fn held_out(name: &str, place: Place<'_>) -> Result<bool, String> {
    match name {
        TRAIN => Ok(false),
        HELD_OUT => Ok(true),
        _ => Err(format!(
            "{place}: split `{name}` is neither `{TRAIN}` nor `{HELD_OUT}`"
        )),
    }
}
