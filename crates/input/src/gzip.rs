//! Compressed files, of limited size when they are unpacked.

use std::io::{self, Read, Write};

use flate2::read::MultiGzDecoder;

use crate::too_large;

/// Decompresses gzip of any number of members, to at most `limit` bytes.
///
/// # Errors
/// When it cannot be read or written, is damaged, or is larger.
pub fn gunzip(from: impl Read, into: &mut impl Write, limit: u64) -> io::Result<()> {
    let mut decoder = MultiGzDecoder::new(from).take(limit.saturating_add(1));
    let unpacked = io::copy(&mut decoder, into).map_err(|error| match error.kind() {
        // The kinds that say what the bytes are.
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            let message = format!("it is not a whole gzip file ({error}); compress it again");
            io::Error::new(io::ErrorKind::InvalidData, message)
        }
        _ => error,
    })?;
    if unpacked > limit {
        return Err(too_large(limit));
    }
    Ok(())
}
