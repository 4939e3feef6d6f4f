//! The files that this process reads, noted where they are opened, and those that its configs name: no output may take
//! the place of one. A process runs one command, or calls `forget` before the next.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf, absolute};
use std::sync::{Mutex, PoisonError};

use toml::{Table, Value};

static INPUTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Forgets what earlier commands of this process read.
pub fn forget() {
    INPUTS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clear();
}

/// Notes a file that is read.
pub(crate) fn note_input(path: &Path) {
    let mut inputs = INPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    inputs.insert(target(path));
}

/// Notes the files that a config names, which a command need not read.
pub fn note_named(config: &Table) {
    let named = |value: Option<&Value>| value?.as_str().map(PathBuf::from);
    let file = config.get("data").and_then(|data| data.get("file"));
    let tests = config.get("tests").and_then(Value::as_array);
    let tests = tests.into_iter().flatten();
    let tests = tests.map(|test| named(test.get("file")));
    for path in [named(file)].into_iter().chain(tests).flatten() {
        note_input(&path);
    }
}

/// Whether a path leads to a file that has been noted.
pub(crate) fn is_input(path: &Path) -> bool {
    let inputs = INPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    inputs.contains(&target(path))
}

/// The file that a path leads to, through links; it may not exist yet.
pub(crate) fn target(path: &Path) -> PathBuf {
    if let Ok(real) = fs::canonicalize(path) {
        return real;
    }
    if let Ok(link) = fs::read_link(path) {
        return place(&path.with_file_name("").join(link));
    }
    place(path)
}

/// Where the name itself stands: its folder through links, but not what the name links to.
pub(crate) fn place(path: &Path) -> PathBuf {
    let found = absolute(path).ok().and_then(|whole| {
        let folder = fs::canonicalize(whole.parent()?).ok()?;
        Some(folder.join(whole.file_name()?))
    });
    found.unwrap_or_else(|| path.to_owned())
}
