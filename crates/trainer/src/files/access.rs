//! Files: written whole or not at all, and read within limits.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use headlight_input::Lines;
use serde::Serialize;
use tempfile::TempPath;

use crate::files::temporary::stored_input;
use crate::{Failure, STANDARD};

/// The start of the names of files that are still being written.
pub(crate) const TEMPORARY: &str = ".unfinished-";

/// The temporary files of a process that removes them when a signal ends it.
pub(crate) static UNFINISHED: OnceLock<Mutex<Vec<PathBuf>>> = OnceLock::new();

/// Writes `path` through a temporary file in the same folder, which is then renamed. A file that is replaced
/// hands on its permissions.
pub(crate) fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Failure> {
    let attempt = || -> io::Result<()> {
        let (file, temporary) = written(path, write)?;
        if let Ok(replaced) = path.metadata() {
            file.set_permissions(replaced.permissions())?;
        }
        temporary.persist(path).map_err(|failed| failed.error)
    };
    attempt().map_err(|error| Failure::writing(path, &error))
}

/// As [`write_atomically`], unless there is a file; returns whether there was none.
pub(crate) fn write_new(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<bool, Failure> {
    let attempt = || -> io::Result<bool> {
        match written(path, write)?.1.persist_noclobber(path) {
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(failed) => Err(failed.error),
            Ok(()) => Ok(true),
        }
    };
    attempt().map_err(|error| Failure::writing(path, &error))
}

/// A temporary file in the folder of `path`, written.
fn written(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<(File, TempPath)> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    // Temporary files are private by default; a result gets the permissions of any other new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(path.with_file_name("."));
    // The user knows the name of the file, and not that of the temporary one.
    let unnamed = |error: io::Error| match error.to_string().split_once(" at path ") {
        Some((reason, _)) => io::Error::new(error.kind(), reason),
        None => error,
    };
    let (file, temporary) = file.map_err(unnamed)?.into_parts();
    if let Some(Ok(mut unfinished)) = UNFINISHED.get().map(Mutex::lock) {
        unfinished.push(temporary.to_path_buf());
    }
    let mut writer = BufWriter::new(file);
    write(&mut writer)?;
    let file = writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    // Some file systems report a full disk only now.
    file.sync_all()?;
    Ok((file, temporary))
}

/// A file to which whole records are added.
#[derive(Debug)]
pub struct Log {
    file: File,
    path: PathBuf,
    /// Bytes of whole records.
    length: u64,
}

impl Log {
    /// Opens a file to append after its first `length` bytes; drops the bytes after them.
    pub(crate) fn open(path: &Path, length: u64) -> Result<Self, Failure> {
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false);
        let file = options.open(path);
        let file = file.map_err(|error| Failure::writing(path, &error))?;
        Self::at(file, path, length)
    }

    /// Appends after the first `length` bytes of a file that is open for writing; drops the bytes after them.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn at(mut file: File, path: &Path, length: u64) -> Result<Self, Failure> {
        file.set_len(length)
            .and_then(|()| file.seek(SeekFrom::Start(length)))
            .map_err(|error| Failure::writing(path, &error))?;
        Ok(Self {
            file,
            path: path.to_owned(),
            length,
        })
    }

    /// The file's length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends a value as a line of JSON, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append_line(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let line = serde_json::to_string(value);
        let mut line = line.map_err(|error| Failure::writing(&self.path, &error.into()))?;
        line.push('\n');
        self.append(line.as_bytes())
    }

    /// Appends records, all or none.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn append(&mut self, records: &[u8]) -> Result<(), Failure> {
        self.file.write_all(records).map_err(|error| {
            // If the disk filled on the way, only the records before are kept, and the next ones follow them.
            let _ = self.file.set_len(self.length);
            let _ = self.file.seek(SeekFrom::Start(self.length));
            Failure::writing(&self.path, &error)
        })?;
        self.length += records.len() as u64;
        Ok(())
    }

    /// Removes the file if it is empty.
    pub fn discard_empty(&self) {
        if self.length == 0 {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens a file that the user gave, of at most `limit` bytes; `-` is standard input.
///
/// # Errors
/// When it cannot be opened, is larger, or is a folder, a pipe or a device.
pub fn open(path: &Path, limit: u64) -> Result<File, Failure> {
    let opened = if path == Path::new(STANDARD) {
        stored_input(limit)
    } else {
        headlight_input::open(path, limit)
    };
    opened.map_err(|error| Failure::unreadable(path, &error))
}

/// Reads a file that the user gave, of at most `limit` bytes.
///
/// # Errors
/// When it cannot be read, is larger, or is a folder, a pipe or a device.
pub fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let file = open(path, limit)?;
    headlight_input::read_all(file, limit).map_err(|error| Failure::unreadable(path, &error))
}

/// Reads a text file that the user gave, of at most `limit` bytes.
///
/// # Errors
/// As [`read_bounded`], and when the file is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<String, Failure> {
    String::from_utf8(read_bounded(path, limit)?)
        .map_err(|_| Failure::reading(path, "it is not UTF-8 text"))
}

/// The longest line of JSON that is read, in bytes: a row of metrics has 500 for each test set, and a config has room for
/// 30,000 of those.
const LINE_LIMIT: u64 = 16 << 20;

/// Reads lines of JSON in the first `bytes` of a file, one in memory at a time, and keeps what `take` returns for each. Skips
/// a last line that was cut short by a kill or a full disk.
pub(crate) fn read_json_lines<T>(
    path: &Path,
    bytes: u64,
    mut take: impl FnMut(serde_json::Value) -> Option<T>,
) -> Result<Vec<T>, Failure> {
    let mut lines = Lines::new(
        BufReader::new(open(path, u64::MAX)?.take(bytes)),
        LINE_LIMIT,
    );
    let mut taken = Vec::new();
    for number in 1.. {
        let invalid = |reason: &dyn std::fmt::Display| {
            Failure::reading(path, format!("line {number}: {reason}"))
        };
        let line = lines.next_line().map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => invalid(&error),
            _ => Failure::unreadable(path, &error),
        })?;
        let Some(line) = line else {
            break;
        };
        match serde_json::from_str(&line.text) {
            Ok(value) => taken.extend(take(value)),
            Err(_) if !line.whole => {}
            Err(error) => return Err(invalid(&error)),
        }
    }
    Ok(taken)
}
