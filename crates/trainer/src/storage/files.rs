//! Files: written whole or not at all, and read within limits.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use headlight_input::{LINE_LIMIT, Lines};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::TempPath;

use crate::Failure;
use crate::storage::inputs::note_input;
use crate::storage::standard::{STANDARD, shown, stored_input};

/// The start of the names of files that are still being written.
pub const TEMPORARY: &str = ".unfinished-";

/// The age from which an unfinished file without a lock is abandoned; a younger one may not be locked yet.
const ABANDONED: Duration = Duration::from_mins(1);

/// Removes the unfinished files that killed processes left in a folder. A process locks the file that it writes.
pub(crate) fn remove_unfinished(folder: &Path) {
    let is_abandoned = |path: &Path| -> io::Result<bool> {
        let found = path.symlink_metadata()?;
        let age = found.modified()?.elapsed().unwrap_or_default();
        Ok(found.is_file()
            && age > ABANDONED
            && File::options().write(true).open(path)?.try_lock().is_ok())
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_unfinished = entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(TEMPORARY.as_bytes());
        if is_unfinished && is_abandoned(&entry.path()).unwrap_or(false) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes `path` through a temporary file in the same folder, which is synced and then renamed. A file that is replaced
/// hands on its permissions.
///
/// # Errors
/// When writing fails; `path` then stays as it was.
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
    attempt().map_err(|error| cannot_write(path, &error))
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
    attempt().map_err(|error| cannot_write(path, &error))
}

/// A temporary file in the folder of `path`, written and synced.
fn written(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<(File, TempPath)> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    // Temporary files are private by default; a result gets the permissions of any other new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let (file, temporary) = builder.tempfile_in(folder_of(path))?.into_parts();
    // The lock shows other processes that the file is not abandoned.
    let _ = file.try_lock();
    let mut writer = BufWriter::new(file);
    write(&mut writer)?;
    let file = writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    Ok((file, temporary))
}

/// Syncs a folder, so that the names of its files are on the disk too, not only their contents. Does nothing if its
/// file system cannot do that, or if the user may not read the folder.
///
/// # Errors
/// When the disk fails.
pub fn sync_names(folder: &Path) -> Result<(), Failure> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(folder).and_then(|opened| opened.sync_all()) {
        Err(error) if ![InvalidInput, PermissionDenied, Unsupported].contains(&error.kind()) => {
            Err(Failure::writing(folder, &error))
        }
        _ => Ok(()),
    }
}

/// Whether a path still leads to an open file; always `true` where the system gives files no identity.
pub fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |found: fs::Metadata| (found.dev(), found.ino());
        let (held, found) = (file.metadata().map(identity), path.metadata().map(identity));
        matches!((held, found), (Ok(held), Ok(found)) if held == found)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

/// A file to which whole records are added.
#[derive(Debug)]
pub struct Log {
    file: File,
    path: PathBuf,
    /// Bytes of whole records.
    length: u64,
    hash: Sha256,
}

/// The length and the hash of a log at some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The length.
    pub bytes: u64,
    /// The SHA-256 of these bytes.
    pub sha256: String,
}

impl Mark {
    /// Checks that a file begins with the bytes that it had at this time; returns its length.
    ///
    /// # Errors
    /// When it does not, or cannot be read.
    pub fn check(&self, path: &Path) -> Result<u64, Failure> {
        let mut hash = Sha256::new();
        let read = headlight_input::open(path, u64::MAX).and_then(|file| {
            let length = file.metadata()?.len();
            io::copy(&mut file.take(self.bytes), &mut hash).map(|bytes| (bytes, length))
        });
        match read {
            Ok((bytes, length))
                if bytes == self.bytes && format!("{:x}", hash.finalize()) == self.sha256 =>
            {
                Ok(length)
            }
            Ok(_) => Err(Failure::Input(format!(
                "{} has changed since the checkpoint",
                shown(path)
            ))),
            Err(error) => Err(Failure::unreadable(path, &error)),
        }
    }
}

impl Log {
    /// Appends after the first `length` bytes of a file that is open for reading and writing; drops the bytes
    /// after them.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn at(mut file: File, path: &Path, length: u64) -> Result<Self, Failure> {
        let mut hash = Sha256::new();
        file.set_len(length)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| io::copy(&mut (&file).take(length), &mut hash))
            .map_err(|error| Failure::writing(path, &error))?;
        Ok(Self {
            file,
            path: path.to_owned(),
            length,
            hash,
        })
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's length and hash now.
    pub fn mark(&self) -> Mark {
        Mark {
            bytes: self.length,
            sha256: format!("{:x}", self.hash.clone().finalize()),
        }
    }

    /// Appends a value as a line of JSON, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append_line(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let mut line = serde_json::to_string(value).map_err(|error| {
            Failure::System(format!(
                "{} cannot be written: {error}",
                self.path.display()
            ))
        })?;
        line.push('\n');
        self.append(line.as_bytes())
    }

    /// Appends records, all or none.
    ///
    /// # Errors
    /// When they cannot be written, or another program has moved, replaced or changed the file.
    pub fn append(&mut self, records: &[u8]) -> Result<(), Failure> {
        if !is_at(&self.file, &self.path)
            || self.file.metadata().map(|found| found.len()).ok() != Some(self.length)
        {
            return Err(self.disturbed());
        }
        self.file.write_all(records).map_err(|error| {
            // If the disk filled on the way, only the records before are kept, and the next ones follow them.
            let _ = self.file.set_len(self.length);
            let _ = self.file.seek(SeekFrom::Start(self.length));
            Failure::writing(&self.path, &error)
        })?;
        self.length += records.len() as u64;
        self.hash.update(records);
        Ok(())
    }

    /// Removes the file if it is empty, but not one that took its name.
    pub fn discard_empty(&self) {
        if self.length == 0 && is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }

    /// Checks that the file holds what was appended, and nothing else.
    ///
    /// # Errors
    /// When another program has changed it.
    pub fn check(&self) -> Result<(), Failure> {
        match Failure::separate(self.mark().check(&self.path))? {
            Ok(whole) if whole == self.length => Ok(()),
            _ => Err(self.disturbed()),
        }
    }

    fn disturbed(&self) -> Failure {
        Failure::System(format!(
            "another program has moved, replaced or changed {} while this process wrote it",
            self.path.display()
        ))
    }

    /// Syncs the file, so that its records are on the disk.
    ///
    /// # Errors
    /// When it cannot be synced.
    pub fn sync(&self) -> Result<(), Failure> {
        let synced = self.file.sync_all();
        synced.map_err(|error| Failure::writing(&self.path, &error))
    }
}

/// A failure to write `path`; a missing folder is wrong input, which the user can fix.
pub fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => {
            Failure::Input(format!(
                "cannot write {}: the folder {} does not exist",
                shown(path),
                shown(folder)
            ))
        }
        _ => Failure::writing(path, error),
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
        note_input(path);
        headlight_input::open(path, limit)
    };
    opened.map_err(|error| Failure::unreadable(path, &error))
}

/// A file that remembers how the machine failed to read it. Readers of formats report every failure as damage.
pub(crate) struct Watched {
    file: File,
    failure: Option<io::Error>,
}

impl Watched {
    fn note<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &done
            && let Some(number) = error.raw_os_error()
        {
            self.failure = Some(io::Error::from_raw_os_error(number));
        }
        done
    }
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let done = self.file.read(buffer);
        self.note(done)
    }
}

impl Seek for Watched {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let done = self.file.seek(to);
        self.note(done)
    }
}

/// Reads an open file, which messages call `path`, with the reader of a format.
///
/// # Errors
/// When the machine cannot read it, or the reader refuses it.
pub(crate) fn read_with<T, E: Into<Failure>>(
    path: &Path,
    file: File,
    read: impl FnOnce(&mut Watched) -> Result<T, E>,
) -> Result<T, Failure> {
    let mut watched = Watched {
        file,
        failure: None,
    };
    let done = read(&mut watched);
    done.map_err(|error| match watched.failure {
        Some(failure) => Failure::unreadable(path, &failure),
        None => error.into(),
    })
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

/// Reads lines of JSON, one in memory at a time, and keeps what `take` returns for each. Skips a last line
/// that was cut short by a kill or a full disk.
///
/// # Errors
/// When the file cannot be read, or a line is not JSON or is too long.
pub(crate) fn read_json_lines<T>(
    path: &Path,
    mut take: impl FnMut(serde_json::Value) -> Option<T>,
) -> Result<Vec<T>, Failure> {
    let mut lines = Lines::new(BufReader::new(open(path, u64::MAX)?), LINE_LIMIT);
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
