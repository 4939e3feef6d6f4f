//! Lines of limited length, one in memory at a time.

use std::io::{self, BufRead, Read};

use crate::size;

/// The lines of a file. A line longer than the limit is an error.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    limit: u64,
    /// Bytes read so far.
    pub read: u64,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Without its line break.
    pub text: String,
    /// Whether a line break ends it. The last line of a file that was cut short has none.
    pub whole: bool,
}

impl<R: BufRead> Lines<R> {
    /// Reads lines of at most `limit` bytes.
    pub fn new(reader: R, limit: u64) -> Self {
        Self {
            reader,
            limit,
            read: 0,
        }
    }

    /// The next line; `None` at the end of the file.
    ///
    /// # Errors
    /// When it cannot be read, is too long, or is not UTF-8.
    pub fn next_line(&mut self) -> io::Result<Option<Line>> {
        let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidData, reason);
        let mut bytes = Vec::new();
        let mut limited = Read::take(&mut self.reader, self.limit + 1);
        limited.read_until(b'\n', &mut bytes)?;
        self.read += bytes.len() as u64;
        if bytes.is_empty() {
            return Ok(None);
        }
        let whole = bytes.ends_with(b"\n");
        if whole {
            bytes.pop();
        }
        if bytes.len() as u64 > self.limit {
            let reason = format!("the line is longer than {}", size(self.limit));
            return Err(invalid(reason));
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(Line { text, whole })),
            // A line that was cut short may end inside a character.
            Err(error) if !whole => Ok(Some(Line {
                text: String::from_utf8_lossy(error.as_bytes()).into_owned(),
                whole,
            })),
            Err(_) => Err(invalid("it is not UTF-8 text".to_owned())),
        }
    }
}
