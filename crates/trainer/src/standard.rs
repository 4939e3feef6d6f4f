//! `-` as the name of a file: standard input where a command reads, standard output where it writes.

use std::fmt;
use std::path::Path;

/// The name.
pub const STANDARD: &str = "-";

/// What messages call a file that a command reads.
pub fn shown(path: &Path) -> impl fmt::Display {
    if path == Path::new(STANDARD) {
        return Path::new("standard input").display();
    }
    path.display()
}
