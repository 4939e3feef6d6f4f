//! The formats of dataset files.

use std::path::Path;

use super::error::FileError;

/// A dataset file's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `tokens`, `labels`, `held_out_tokens`, `held_out_labels`, for `numpy.load`.
    Npz,
    /// `split,label,token_0,token_1,...`
    Csv,
    /// One `{"split":"train","label":0,"tokens":[0,45,...]}` per line.
    Jsonl,
    /// A text per line, without labels.
    Txt,
}

impl Format {
    /// The format of a file to read, by its name: also `.tsv`, which is CSV with tabs, and any of these with `.gz`.
    /// `None` if it is not a dataset file.
    pub fn to_read(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let name = name.strip_suffix(".gz").unwrap_or(name);
        match name.rsplit_once('.') {
            Some((_, "tsv")) => Some(Self::Csv),
            Some((_, "txt")) => Some(Self::Txt),
            _ => Self::of(Path::new(name)).ok(),
        }
    }

    /// The format that the extension of a path to write names.
    ///
    /// # Errors
    /// When the extension is none of the three.
    pub fn of(path: &Path) -> Result<Self, FileError> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("npz") => Ok(Self::Npz),
            Some("csv") => Ok(Self::Csv),
            Some("jsonl") => Ok(Self::Jsonl),
            _ => Err(FileError::new(
                path.display(),
                "unknown file extension; use .npz, .csv or .jsonl",
            )),
        }
    }
}
