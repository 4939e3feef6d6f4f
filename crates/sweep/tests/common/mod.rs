//! Results files of made-up runs.

use std::fs;
use std::path::{Path, PathBuf};

mod whole_rows;

pub(crate) use whole_rows::{FIELDS, whole};

/// An empty folder of this name.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes a file of these lines.
pub(crate) fn file(folder: &Path, name: &str, lines: &[String]) -> PathBuf {
    let path = folder.join(name);
    let end = if lines.is_empty() { "" } else { "\n" };
    fs::write(&path, lines.join("\n") + end).unwrap();
    path
}
