//! Paths in messages.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// The name of standard input where a command reads, and of standard output where it writes.
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
pub fn shell_path(path: &Path) -> String {
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

static HIDDEN_FOLDERS: RwLock<Vec<PathBuf>> = RwLock::new(Vec::new());

/// Leaves out the paths of a folder's files in messages from now on: the program made the folder, and its user knows none of them.
pub fn hide_folder(folder: PathBuf) {
    let mut folders = HIDDEN_FOLDERS
        .write()
        .unwrap_or_else(PoisonError::into_inner);
    folders.push(folder);
}

/// The name of a file in a folder that is hidden, without its ending.
fn hidden_name(path: &Path) -> Option<&Path> {
    let folders = HIDDEN_FOLDERS
        .read()
        .unwrap_or_else(PoisonError::into_inner);
    let is_hidden = folders.iter().any(|folder| path.starts_with(folder));
    is_hidden.then(|| path.file_stem().map(Path::new)).flatten()
}
