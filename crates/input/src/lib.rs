//! What all readers of untrusted files share: they open only regular files, check sizes before they
//! allocate memory, and limit the length of lines.
//!
//! The limits of one format are in its reader; `docs/reference/promises.md` lists all.

mod gzip;
mod lines;
mod metered;
pub mod toml_message;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

pub use gzip::gunzip;
pub use lines::{Line, Lines};
pub use metered::Metered;

/// The largest file of any kind that is read, in bytes.
pub const FILE_LIMIT: u64 = 1 << 30;

/// The longest line or record of a file of samples, in bytes.
pub const LINE_LIMIT: u64 = 1 << 20;

/// The largest text that is read as a whole, in bytes: a config, whose 65,536 classes may have names of 100 bytes.
///
/// Parsing can turn one byte of JSON into 32 bytes of memory.
pub const TEXT_LIMIT: u64 = 16 << 20;

/// Opens a file of at most `limit` bytes.
///
/// Links are followed. A folder, pipe or device is rejected before it is opened, because opening or
/// reading it might block forever.
///
/// # Errors
/// When it cannot be opened, is not a regular file, or is larger.
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
/// When it cannot be read, is not a regular file, or is larger.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_all(open(path, limit)?, limit)
}

/// Reads the rest of an open file, of at most `limit` bytes.
///
/// # Errors
/// When it cannot be read, or is larger.
pub fn read_all(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = file.metadata()?.len().min(limit);
    let reserved = bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX));
    reserved.map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    // The file may grow while it is read.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(too_large(limit));
    }
    Ok(bytes)
}

/// Rejects a path that is not a regular file.
///
/// # Errors
/// When it does not exist, or is not a regular file.
pub fn check_kind(path: &Path) -> io::Result<()> {
    let kind = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => error,
        _ if path.is_symlink() => refused("it is a link to a file that does not exist"),
        _ => error,
    })?;
    if kind.is_dir() {
        return Err(refused("it is a folder; name a file"));
    }
    if !kind.is_file() {
        return Err(refused(
            "it is a pipe or a device; save its contents to a file first",
        ));
    }
    Ok(())
}

/// The error of a file that is larger than `limit` bytes.
pub fn too_large(limit: u64) -> io::Error {
    let limit = size(limit);
    refused(&format!(
        "it is larger than {limit}, the largest size that is read"
    ))
}

fn refused(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

/// A limit with its unit: `1 GiB`, `16 MiB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 30 => format!("{} GiB", bytes >> 30),
        _ if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
        _ => format!("{} KiB", bytes.div_ceil(1 << 10)),
    }
}
