//! What paths lead to. That the machine cannot tell is a failure, and not the same as nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::Failure;

/// The file extension of what is damaged and was put aside.
pub(crate) const DAMAGED: &str = "damaged";

/// The first free name for what stands at `path` but is damaged: `NAME.damaged`.
///
/// # Errors
/// When the machine cannot tell.
pub(crate) fn damaged_name(path: &Path) -> Result<PathBuf, Failure> {
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        if number > 0 {
            name.push(format!(".{number}"));
        }
        name.push(".");
        name.push(DAMAGED);
        PathBuf::from(name)
    };
    let mut number = 0;
    loop {
        let name = numbered(number);
        match name.symlink_metadata() {
            Ok(_) => number += 1,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(name),
            Err(error) => return Err(Failure::writing(&name, &error)),
        }
    }
}

/// What a path leads to; `None` if that is nothing.
///
/// # Errors
/// When the machine cannot tell.
pub fn found(path: &Path) -> Result<Option<fs::Metadata>, Failure> {
    let found = fs::metadata(path).map_err(|error| Failure::unreadable(path, &error));
    Ok(Failure::separate(found)?.ok())
}

/// Whether a path leads to a regular file.
///
/// # Errors
/// When the machine cannot tell.
pub(crate) fn is_file(path: &Path) -> Result<bool, Failure> {
    Ok(found(path)?.is_some_and(|found| found.is_file()))
}

/// The paths in a folder; empty if the folder does not exist.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn paths_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let paths = fs::read_dir(folder).and_then(|entries| {
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        paths.collect()
    });
    match Failure::separate(paths.map_err(|error| Failure::unreadable(folder, &error)))? {
        Ok(paths) => Ok(paths),
        Err(_) => Ok(Vec::new()),
    }
}
