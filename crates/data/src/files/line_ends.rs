//! Files whose lines end as on old Macintosh computers.

use std::io::{self, BufReader, Read};

/// How much of a file decides, in bytes.
const START: usize = 1 << 16;

/// A file of text, to be read by lines.
pub(super) fn text(reader: impl Read) -> BufReader<impl Read> {
    let reader = LineEnds {
        reader,
        are_returns: None,
    };
    BufReader::with_capacity(START, reader)
}

/// Gives the lines of a file that ends them with carriage returns alone the usual end, of the same length.
struct LineEnds<R> {
    reader: R,
    /// Whether they end so, as far as the start of the file tells.
    are_returns: Option<bool>,
}

impl<R: Read> Read for LineEnds<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        let read = &mut buffer[..count];
        let are_returns = *self.are_returns.get_or_insert_with(|| {
            // The second half of the end of a line may not be read yet.
            let inner = read.split_last().map_or(&[][..], |(_, inner)| inner);
            inner.contains(&b'\r') && !read.contains(&b'\n')
        });
        if are_returns {
            for byte in read.iter_mut().filter(|byte| **byte == b'\r') {
                *byte = b'\n';
            }
        }
        Ok(count)
    }
}
