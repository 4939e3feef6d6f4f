//! What every reader of foreign files shares: only files are opened, sizes are checked before memory is
//! taken, and lines end in time.
//!
//! Limits of a single format stand with its reader; `docs/promises.md` has them all.

mod lines;
mod metered;
#[cfg(feature = "toml")]
pub mod toml_message;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

pub use lines::{Line, Lines};
pub use metered::Metered;

/// The largest file of any kind that is read, in bytes.
pub const FILE_LIMIT: u64 = 1 << 30;

/// The longest line or record, in bytes: a sample, or the figures of a training step.
pub const LINE_LIMIT: u64 = 1 << 20;

/// The largest text that is read as a whole, in bytes: a config, or a JSON file of a run.
///
/// Parsed, a byte of JSON can become 32 bytes of memory.
pub const TEXT_LIMIT: u64 = 1 << 20;

/// Opens a file of at most `limit` bytes.
///
/// Links are followed. What is no file in the end (a folder, a pipe, a device) is refused before it
/// is opened, because opening or reading it might wait for ever.
///
/// # Errors
/// When it cannot be opened, is no file, or is larger.
pub fn open(path: &Path, limit: u64) -> io::Result<File> {
    check_kind(path)?;
    let file = File::open(path)?;
    if file.metadata()?.len() > limit {
        return Err(too_large(limit));
    }
    Ok(file)
}

/// Reads a whole file of at most `limit` bytes.
///
/// # Errors
/// When it cannot be read, is no file, or is larger.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path, limit)?;
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(too_large(limit));
    }
    Ok(bytes)
}

/// Refuses what is there but is no file.
///
/// # Errors
/// When it is not there, or is no file.
pub fn check_kind(path: &Path) -> io::Result<()> {
    let kind = fs::metadata(path)?;
    if kind.is_dir() {
        return Err(refused("it is a folder; name a file"));
    }
    if !kind.is_file() {
        return Err(refused(
            "it is a pipe or a device; save what it holds to a file first",
        ));
    }
    Ok(())
}

fn too_large(limit: u64) -> io::Error {
    refused(&format!(
        "it is larger than {}, the most that is read",
        size(limit)
    ))
}

fn refused(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

/// A limit in words: `1 GiB`, `16 MiB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 30 => format!("{} GiB", bytes >> 30),
        _ if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
        _ => format!("{} KiB", bytes.div_ceil(1 << 10)),
    }
}
