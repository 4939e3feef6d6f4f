//! Writes dataset files, each no larger than what is read back.

use std::io::{self, Write};

use headlight_data::files::{self, Contents, Format};
use headlight_input::{FILE_LIMIT, size};

use crate::Failure;
use crate::storage::outputs::Output;

/// Writes a dataset file.
///
/// # Errors
/// When it cannot be written, or could not be read back.
pub fn write(contents: Contents<'_>, format: Format, out: Output<'_>) -> Result<(), Failure> {
    out.write(|writer| {
        let left = FILE_LIMIT;
        files::write(contents, format, UpTo { writer, left })
    })
}

/// Writes no more bytes than are read back.
struct UpTo<W> {
    writer: W,
    left: u64,
}

impl<W: Write> Write for UpTo<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.left {
            let message = format!(
                "the dataset takes more than {}, the most that Headlight reads; lower data.samples and data.held_out",
                size(FILE_LIMIT)
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let written = self.writer.write(bytes)?;
        self.left -= written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
