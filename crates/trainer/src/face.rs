//! The face of Headlight that shows messages to its user: the command line, or the Python module. Each names its own options.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

static IS_PYTHON: AtomicBool = AtomicBool::new(false);

/// Names Python's arguments in messages from now on, in place of the command line's flags.
pub fn name_arguments() {
    IS_PYTHON.store(true, Ordering::Relaxed);
}

/// An option as the user writes it: a flag of the command line, or an argument of Python's functions.
pub fn option(flag: &'static str, argument: &'static str) -> &'static str {
    if IS_PYTHON.load(Ordering::Relaxed) {
        argument
    } else {
        flag
    }
}

static OWN_FOLDERS: RwLock<Vec<PathBuf>> = RwLock::new(Vec::new());

/// Leaves out the paths of a folder's files in messages from now on: the program made the folder, and its user knows none of them.
pub fn hide_folder(folder: PathBuf) {
    let mut folders = OWN_FOLDERS.write().unwrap_or_else(PoisonError::into_inner);
    folders.push(folder);
}

/// The name of a file in a folder that is hidden, without its ending.
pub(crate) fn hidden_name(path: &Path) -> Option<&Path> {
    let folders = OWN_FOLDERS.read().unwrap_or_else(PoisonError::into_inner);
    let is_hidden = folders.iter().any(|folder| path.starts_with(folder));
    is_hidden.then(|| path.file_stem().map(Path::new)).flatten()
}
