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
            let message = format!("it is not one whole gzip file ({error}); compress it again");
            io::Error::new(io::ErrorKind::InvalidData, message)
        }
        _ => error,
    })?;
    if unpacked > limit {
        return Err(too_large(limit));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_small_file_unpacks_only_so_far() {
        let bomb = packed(&vec![0; 1 << 20]);
        assert!(bomb.len() < 1 << 12);
        let mut into = Vec::new();
        assert!(gunzip(&bomb[..], &mut into, 1 << 16).is_err());
        assert!(into.len() <= (1 << 16) + 1);
        // Two members are one file; half of one is none.
        let two = [packed(b"a,b\n"), packed(b"1,2\n")].concat();
        let mut into = Vec::new();
        gunzip(&two[..], &mut into, 8).unwrap();
        assert_eq!(into, b"a,b\n1,2\n");
        let half = &two[..two.len() - 9];
        assert!(gunzip(half, &mut Vec::new(), 8).is_err());
    }
}
