//! Shards of a sweep, for many machines.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// One of `count` parts of a sweep; `index` is counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is not a shard; write I/N with I from 1 to N, such as 1/7");
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let (index, count) = (number(index)?, number(count)?);
        if index == 0 || index > count {
            return Err(wrong());
        }
        Ok(Self { index, count })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl Shard {
    /// The whole sweep.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// The runs of this shard, out of `runs`: shards have contiguous ranges whose sizes differ by at most one.
    pub fn runs(self, runs: usize) -> Range<usize> {
        let start = |index: usize| (runs as u128 * index as u128 / self.count as u128) as usize;
        start(self.index - 1)..start(self.index)
    }

    /// The file of this shard, such as `seeds-07-of-64.jsonl` if `whole` is `seeds.jsonl`.
    pub fn file(self, whole: &Path) -> PathBuf {
        let mut name = whole.file_stem().unwrap_or_default().to_owned();
        let digits = self.count.to_string().len();
        name.push(format!("-{:0digits$}-of-{}", self.index, self.count));
        if let Some(extension) = whole.extension() {
            name.push(".");
            name.push(extension);
        }
        whole.with_file_name(name)
    }
}
