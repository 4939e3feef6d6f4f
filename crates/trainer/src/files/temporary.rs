//! Temporary files without a name, for streams: standard input is stored in one, and so is what goes to standard output or a pipe.

use std::env::temp_dir;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use headlight_input::FILE_LIMIT;

use crate::shell_path;

/// A file in the temporary folder. A failure names the folder, and its kind is one of the machine.
pub(crate) fn temporary() -> io::Result<File> {
    tempfile::tempfile().map_err(|error| {
        let (folder, kind) = (shell_path(&temp_dir()), error.kind());
        let reason =
            format!("no file can be created in the temporary folder (TMPDIR) {folder}: {kind}");
        io::Error::new(io::ErrorKind::Unsupported, reason)
    })
}

/// Standard input as such a file, for readers that need its length, go back in it or open it again.
pub(crate) fn stored_input(limit: u64) -> io::Result<File> {
    static STORED: Mutex<Option<File>> = Mutex::new(None);
    let mut stored = STORED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut file = if let Some(file) = &*stored {
        file.try_clone()?
    } else {
        let limit = limit.min(FILE_LIMIT);
        let mut file = temporary()?;
        let read = io::copy(&mut io::stdin().lock().take(limit + 1), &mut file)?;
        if read > limit {
            return Err(headlight_input::too_large(limit));
        }
        stored.insert(file).try_clone()?
    };
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}
