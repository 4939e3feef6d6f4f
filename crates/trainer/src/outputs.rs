//! The files that a command writes where its user says; `-` is standard output. No command replaces what it reads, or
//! a file of a run. It replaces another file only with `--force`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use crate::Failure;
use crate::files::{note, print, write_atomically};
use crate::standard::STANDARD;

/// A file to be written, which has been checked.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    path: &'a Path,
}

impl<'a> Output<'a> {
    /// Checks one output.
    ///
    /// # Errors
    /// As [`all`](Self::all).
    pub fn new(path: &'a Path, inputs: &[&Path], force: bool) -> Result<Self, Failure> {
        if path == Path::new(STANDARD) {
            return Ok(Self { path });
        }
        let real = |path: &Path| fs::canonicalize(path).ok();
        let refuse = |reason: &str| {
            let message = format!("{} {reason}", path.display());
            Err(Failure::Input(message))
        };
        let own = real(path);
        if own.is_some() && inputs.iter().any(|input| real(input) == own) {
            return refuse("is an input of this command; choose another output file");
        }
        if path.symlink_metadata().is_err() {
            return Ok(Self { path });
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let extension = path.extension().and_then(|extension| extension.to_str());
        let is_drawing = matches!(extension, Some("html" | "svg" | "png"));
        if !is_drawing && folder.join("config.toml").is_file() {
            return refuse("is a file of a run; choose another output file");
        }
        if !force {
            return refuse(
                "already exists; choose another output file, or replace it with --force",
            );
        }
        Ok(Self { path })
    }

    /// Checks all outputs of a command, in the given order.
    ///
    /// # Errors
    /// When an output is named twice, is an input, is a file of a run, or exists and `force` is not given; the
    /// message names the file.
    pub fn all<const N: usize>(
        paths: [Option<&'a Path>; N],
        inputs: &[&Path],
        force: bool,
    ) -> Result<[Option<Self>; N], Failure> {
        let mut outputs = [None; N];
        for (index, path) in paths.into_iter().enumerate() {
            let Some(path) = path else { continue };
            if paths[..index].contains(&Some(path)) {
                let message = format!(
                    "{} is named twice; choose another output file",
                    path.display()
                );
                return Err(Failure::Input(message));
            }
            outputs[index] = Some(Self::new(path, inputs, force)?);
        }
        Ok(outputs)
    }

    /// The file.
    pub fn path(self) -> &'a Path {
        self.path
    }

    /// Writes the file: whole, or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(
        self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        if self.is_standard() {
            return write_to_standard(write);
        }
        write_atomically(self.path, write)
    }

    /// Tells what was written: on standard output, unless the output itself went there.
    ///
    /// # Errors
    /// When standard output cannot be written to.
    pub fn tell(self, text: &str) -> Result<(), Failure> {
        if self.is_standard() {
            note(text);
            return Ok(());
        }
        print(&format!("{}: {text}\n", self.path.display()))
    }

    /// The path whose extension tells the format; `default` for standard output.
    pub fn named(self, default: &'static str) -> &'a Path {
        if self.is_standard() {
            Path::new(default)
        } else {
            self.path
        }
    }

    fn is_standard(self) -> bool {
        self.path == Path::new(STANDARD)
    }

    /// As [`write`](Self::write), from bytes.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_all(self, bytes: &[u8]) -> Result<(), Failure> {
        self.write(|file| file.write_all(bytes))
    }
}

/// Writes to standard output what was written without an error; a reader that stops early (`| head`) is no failure.
fn write_to_standard(
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Failure> {
    let attempt = || -> io::Result<()> {
        let mut writer = BufWriter::new(tempfile::tempfile()?);
        write(&mut writer)?;
        let mut file = writer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        let mut out = io::stdout().lock();
        io::copy(&mut file, &mut out)?;
        out.flush()
    };
    match attempt() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::writing(Path::new("standard output"), &error))
        }
        _ => Ok(()),
    }
}
