//! `-` as the name of a file: standard input where a command reads, standard output where it writes.

use std::env::temp_dir;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use headlight_input::FILE_LIMIT;

use crate::face::hidden_name;

/// The name.
pub const STANDARD: &str = "-";

/// What messages call a file that a command reads: its path, in which control characters are replaced; its name alone if
/// it is in a folder that the program made.
pub fn shown(path: &Path) -> String {
    if path == Path::new(STANDARD) {
        return "standard input".to_owned();
    }
    let name = hidden_name(path).unwrap_or(path);
    name.to_string_lossy().replace(char::is_control, "\u{FFFD}")
}

/// A path as a word of a shell's command line. A name that begins like a flag gets `./` before it.
pub fn quoted(path: &Path) -> String {
    let begins_flag = path.as_os_str().as_encoded_bytes().starts_with(b"-");
    if begins_flag && path != Path::new(STANDARD) {
        return shell_word(Path::new(".").join(path).as_os_str());
    }
    shell_word(path.as_os_str())
}

/// A text as a word of a shell's command line. Bytes that a terminal does not show are escaped, as in Bash and Zsh.
pub fn shell_word(text: &OsStr) -> String {
    let plain = text
        .to_str()
        .filter(|text| !text.contains(char::is_control));
    if let Some(Ok(word)) = plain.map(shlex::try_quote) {
        return word.into_owned();
    }
    let escaped = text.as_encoded_bytes().iter();
    let escaped = escaped.map(|&byte| match byte {
        b'\\' | b'\'' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    });
    format!("$'{}'", escaped.collect::<String>())
}

/// A file without a name in the temporary folder. A failure names the folder, and its kind is one of the machine.
pub(crate) fn temporary() -> io::Result<File> {
    tempfile::tempfile().map_err(|error| {
        let (folder, kind) = (quoted(&temp_dir()), error.kind());
        let reason =
            format!("no file can be created in the temporary folder (TMPDIR) {folder}: {kind}");
        io::Error::new(io::ErrorKind::Unsupported, reason)
    })
}

/// Standard input as a file without a name, for readers that need its length, go back in it or open it again.
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
