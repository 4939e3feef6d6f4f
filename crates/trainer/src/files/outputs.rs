//! The files that a command writes where its user says; `-` is standard output. No command writes into a run, or replaces
//! a file of the user's without `--force`. Commands follow links, and write to devices and pipes.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf, absolute};

use crate::files::access::{write_atomically, write_new};
use crate::files::run_files::is_in_run;
use crate::files::temporary::temporary;
use crate::{Failure, STANDARD, shown};

/// Where a user wants a file to be written. Arguments have this type, so that the description of the command line
/// tells outputs from inputs.
#[derive(Clone, Debug)]
pub struct Destination(PathBuf);

impl Destination {
    /// The path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl From<OsString> for Destination {
    fn from(path: OsString) -> Self {
        Self(path.into())
    }
}

impl From<PathBuf> for Destination {
    fn from(path: PathBuf) -> Self {
        Self(path)
    }
}

/// A file to be written, which has been checked.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    path: &'a Path,
    force: bool,
}

impl<'a> Output<'a> {
    /// Checks one output.
    ///
    /// # Errors
    /// When it is in the directory of a run, or exists and `force` is not given; the message names the file.
    pub fn new(destination: &'a Destination, force: bool) -> Result<Self, Failure> {
        let path = destination.path();
        let output = Self { path, force };
        output.check()?;
        Ok(output)
    }

    /// Standard output.
    pub fn standard() -> Self {
        Self {
            path: Path::new(STANDARD),
            force: false,
        }
    }

    /// Checks an output, and that its name does not end as that of another format does. The format's ending is that of its
    /// flag.
    ///
    /// # Errors
    /// As [`new`](Self::new), and when it does.
    pub fn of_format(
        ending: &str,
        destination: &'a Destination,
        force: bool,
    ) -> Result<Self, Failure> {
        let output = Self::new(destination, force)?;
        let extension = output.path.extension().and_then(|name| name.to_str());
        let extension = extension.map(str::to_ascii_lowercase).unwrap_or_default();
        if extension != ending && FORMATS.contains(&extension.as_str()) {
            return Err(Failure::Input(format!(
                "--{ending} {}: its name ends in .{extension}, but --{ending} writes .{ending}; choose another name",
                shown(output.path)
            )));
        }
        Ok(output)
    }

    /// Checks the outputs of a command that are given, in this order; each comes with its format's ending.
    ///
    /// # Errors
    /// As [`of_format`](Self::of_format).
    pub fn all<const N: usize>(
        destinations: [(&str, Option<&'a Destination>); N],
        force: bool,
    ) -> Result<[Option<Self>; N], Failure> {
        let mut outputs = [None; N];
        for (output, (ending, destination)) in outputs.iter_mut().zip(destinations) {
            if let Some(destination) = destination {
                *output = Some(Self::of_format(ending, destination, force)?);
            }
        }
        Ok(outputs)
    }

    fn check(self) -> Result<(), Failure> {
        if self.is_standard() || self.is_special() {
            return Ok(());
        }
        let file = target(self.path);
        let reason = if is_in_run(&file) || is_in_run(&in_real_folder(self.path)) {
            "is in the directory of a run, where only the run writes; choose another output file"
        } else if file.is_dir() {
            "is a folder; choose a file as the output"
        } else if file.exists() && !self.force {
            EXISTS
        } else {
            return Ok(());
        };
        Err(Failure::Input(format!("{} {reason}", shown(self.path))))
    }

    /// The file.
    pub fn path(self) -> &'a Path {
        self.path
    }

    /// Writes the file: whole, or not at all.
    ///
    /// # Errors
    /// When it cannot be written, or has come into being since it was checked.
    pub fn write(
        self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        if self.is_standard() {
            let shown = Path::new(STANDARD_OUTPUT);
            return write_through(shown, write, || Ok(io::stdout().lock()));
        }
        if self.is_special() {
            return write_through(self.path, write, || {
                OpenOptions::new().write(true).open(self.path)
            });
        }
        let linked = self.path.is_symlink().then(|| target(self.path));
        let path = linked.as_deref().unwrap_or(self.path);
        if self.force {
            write_atomically(path, write)
        } else if write_new(path, write)? {
            Ok(())
        } else {
            Err(Failure::Input(format!("{} {EXISTS}", shown(self.path))))
        }
    }

    /// What messages call it: its path, or standard output.
    pub fn display_name(self) -> String {
        if self.is_standard() {
            return STANDARD_OUTPUT.to_owned();
        }
        shown(self.path)
    }

    /// The path whose extension tells the format; `default` for standard output.
    pub fn named(self, default: &'static str) -> &'a Path {
        if self.is_standard() {
            Path::new(default)
        } else {
            self.path
        }
    }

    /// Whether it is standard output.
    pub fn is_standard(self) -> bool {
        self.path == Path::new(STANDARD)
    }

    /// Whether it is a device or a pipe.
    fn is_special(self) -> bool {
        let found = self.path.metadata();
        found.is_ok_and(|found| !found.is_file() && !found.is_dir())
    }

    /// As [`write`](Self::write), from bytes.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_all(self, bytes: &[u8]) -> Result<(), Failure> {
        self.write(|file| file.write_all(bytes))
    }
}

/// The file that a path leads to, through links; it may not exist yet.
pub fn target(path: &Path) -> PathBuf {
    if let Ok(real) = fs::canonicalize(path) {
        return real;
    }
    if let Ok(link) = fs::read_link(path) {
        return in_real_folder(&path.with_file_name("").join(link));
    }
    in_real_folder(path)
}

/// Where the name itself stands: its folder through links, but not what the name links to.
fn in_real_folder(path: &Path) -> PathBuf {
    let found = absolute(path).ok().and_then(|whole| {
        let folder = fs::canonicalize(whole.parent()?).ok()?;
        Some(folder.join(whole.file_name()?))
    });
    found.unwrap_or_else(|| path.to_owned())
}

/// The endings of the formats that commands write.
const FORMATS: [&str; 8] = ["svg", "png", "html", "csv", "tsv", "json", "jsonl", "npz"];

const STANDARD_OUTPUT: &str = "standard output";

/// Why a file is not replaced.
const EXISTS: &str = "already exists; choose another output file, or replace it with --force";

/// Writes to a place that keeps no files, once all is written without an error; a reader that stops early (`| head`) is
/// no failure.
fn write_through<W: Write>(
    shown: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    open: impl FnOnce() -> io::Result<W>,
) -> Result<(), Failure> {
    let attempt = || -> io::Result<()> {
        let mut writer = BufWriter::new(temporary()?);
        write(&mut writer)?;
        let mut file = writer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        let mut out = open()?;
        io::copy(&mut file, &mut out)?;
        out.flush()
    };
    match attempt() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::writing(shown, &error))
        }
        _ => Ok(()),
    }
}
