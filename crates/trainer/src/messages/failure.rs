//! The failures of a command, and their exit codes.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::Path;

use headlight_data::files::FileError;
use headlight_experiment::Error;

use crate::shown;

/// The reason why a command ends without its result.
#[derive(Debug)]
pub enum Failure {
    /// The config, the usage or an input file is invalid. Exit code 2.
    Input(String),
    /// The loss, a parameter or another number of a training became NaN or infinite. Exit code 3.
    Diverged(String),
    /// A signal stopped the work, and everything so far is saved. Exit code 128 + signal.
    Interrupted {
        /// The signal's number: 2 is SIGINT, 15 SIGTERM, 10 SIGUSR1 on Linux.
        signal: i32,
        /// The message, which says what was saved, and where.
        message: String,
    },
    /// The machine failed: for example, the disk is full, or a permission is missing. Exit code 1.
    System(String),
}

impl Failure {
    /// The exit code of the process.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::System(_) => 1,
            Self::Input(_) => 2,
            Self::Diverged(_) => 3,
            Self::Interrupted { signal, .. } => 128 + *signal as u8,
        }
    }

    /// The same where a model is given, not trained: parameters that compute NaN are wrong input.
    #[must_use]
    pub fn of_given_model(self) -> Self {
        match self {
            Self::Diverged(message) => Self::Input(message),
            other => other,
        }
    }

    /// A failure to write `path`; a missing folder is wrong input, which the user can fix.
    pub fn writing(path: &Path, error: &io::Error) -> Self {
        // The writer of CSV hides the kind of the system's error.
        let csv = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<csv::Error>());
        if let Some(csv::ErrorKind::Io(cause)) = csv.map(csv::Error::kind) {
            return Self::writing(path, cause);
        }
        // The system's errors have a number; this one is what the writer says of its contents.
        if error.kind() == io::ErrorKind::InvalidInput && error.raw_os_error().is_none() {
            return Self::Input(format!("cannot write {}: {error}", shown(path)));
        }
        if let Some(failure) = Self::in_file(path) {
            return failure;
        }
        let folder = path.parent().filter(|found| !found.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.exists()) {
            return Self::Input(format!(
                "cannot write {}: the folder {} does not exist",
                shown(path),
                shown(folder)
            ));
        }
        let remedy = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "; free some space, then run again"
            }
            io::ErrorKind::FileTooLarge => {
                "; raise the limit on the size of files (`ulimit -f`) and run again"
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "; choose a folder in which you can write"
            }
            _ => "",
        };
        Self::System(format!("cannot write {}: {error}{remedy}", shown(path)))
    }

    /// The failure to write `path` where a folder of it is a file.
    pub(crate) fn in_file(path: &Path) -> Option<Self> {
        let file = path.ancestors().skip(1).find(|parent| parent.is_file())?;
        let message = format!("{} is a file, not a folder", shown(file));
        Some(Self::Input(format!(
            "cannot write {}: {message}",
            shown(path)
        )))
    }

    /// A build without Burn cannot do `what`, which needs it.
    pub fn without_burn(what: &str) -> Self {
        Self::Input(format!(
            "{what} needs Burn, which the Python module and the archives `headlight-without-burn` lack; use the program of another archive, or \
             build it with the default features"
        ))
    }

    /// A failure to read `path`, which the user gave, because of what it is or holds.
    pub fn reading(path: &Path, reason: impl fmt::Display) -> Self {
        Self::Input(format!("cannot read {}: {reason}", shown(path)))
    }

    /// A failure to read `path` that the system reports: the machine's, unless it says what the path leads to.
    pub fn unreadable(path: &Path, error: &io::Error) -> Self {
        use io::ErrorKind::{
            InvalidData, InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound,
            Other, UnexpectedEof,
        };
        match error.kind() {
            InvalidData | InvalidFilename | InvalidInput | IsADirectory | NotADirectory
            | NotFound | Other | UnexpectedEof => {
                // `"C:\temp"` of a config has a tab.
                let escaped = path.to_string_lossy().contains(char::is_control);
                let remedy = if escaped { ESCAPES } else { "" };
                Self::reading(path, format!("{error}{remedy}"))
            }
            // No permission, a failing disk, no memory: the file may be as it was.
            _ => Self::System(format!("cannot read {}: {error}", shown(path))),
        }
    }
}

/// Why the name of a file may hold control characters.
const ESCAPES: &str = "; within double quotes, a config takes `\\t` for a tab and `\\n` for a line; write the path in single quotes";

/// The longest message that is shown, in characters.
const SHOWN_LIMIT: usize = 4000;

/// A message without its middle if it is long, since it may quote a foreign file: what is wrong stands before or after
/// what it quotes.
pub fn shortened(message: &str) -> Cow<'_, str> {
    let count = message.chars().count();
    if count <= SHOWN_LIMIT {
        return message.into();
    }
    let (half, left_out) = (SHOWN_LIMIT / 2, count - SHOWN_LIMIT);
    let start: String = message.chars().take(half).collect();
    let end: String = message.chars().skip(count - half).collect();
    format!("{start}... ({left_out} more characters) ...{end}").into()
}

impl fmt::Display for Failure {
    /// The message, as [`shortened`] shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Input(message)
        | Self::Diverged(message)
        | Self::Interrupted { message, .. }
        | Self::System(message)) = self;
        f.write_str(&shortened(message))
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Input(message) => Self::Input(message),
            Error::Diverged(message) => Self::Diverged(message),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::Input(error.to_string())
    }
}
