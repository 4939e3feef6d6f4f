//! The header of a `.npy` member, checked before it is parsed.

/// The longest header that is parsed, in bytes. NumPy has the same limit, for the same reason.
const HEADER_LIMIT: usize = 10_000;

/// The deepest nesting of brackets in a header; the widest that NumPy writes for plain arrays is 2.
const DEPTH_LIMIT: usize = 4;

/// Refuses headers that would make a parser take memory on their word, or recurse without end, and
/// returns where the array's data begin.
///
/// <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>
pub(crate) fn check(bytes: &[u8]) -> Result<usize, String> {
    let cut = || "it is cut short".to_owned();
    let rest = bytes
        .strip_prefix(b"\x93NUMPY")
        .ok_or("it is no npy array")?;
    let (length, text) = match rest {
        [1, _, low, high, text @ ..] => (usize::from(u16::from_le_bytes([*low, *high])), text),
        [2 | 3, _, a, b, c, d, text @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, text),
        [] | [1..=3, ..] => return Err(cut()),
        [version, ..] => return Err(format!("it is of npy version {version}, not 1 to 3")),
    };
    if length > HEADER_LIMIT {
        return Err(format!(
            "its header is of {length} bytes; at most {HEADER_LIMIT} are read"
        ));
    }
    let header = text.get(..length).ok_or_else(cut)?;
    let mut depth = 0_usize;
    for byte in header {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_LIMIT {
            return Err(format!(
                "its header nests more than {DEPTH_LIMIT} brackets deep"
            ));
        }
    }
    Ok(bytes.len() - text.len() + length)
}
