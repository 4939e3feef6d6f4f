//! Checks of the headers of `.npy` files, made before `npyz` parses one.

/// The longest header that is parsed, in bytes. NumPy has the same limit.
const HEADER_LIMIT: usize = 10_000;

/// The deepest nesting of brackets that is parsed. NumPy nests 2 deep for plain arrays.
const DEPTH_LIMIT: usize = 4;

/// Rejects headers that would make the parser allocate as much memory as they declare, or recurse
/// without end. Returns the offset of the array's data.
///
/// <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>
pub(crate) fn check(bytes: &[u8]) -> Result<usize, String> {
    let cut = || "it is cut short".to_owned();
    let rest = bytes
        .strip_prefix(b"\x93NUMPY")
        .ok_or("it is not an npy array")?;
    let (length, text) = match rest {
        [1, _, low, high, text @ ..] => (usize::from(u16::from_le_bytes([*low, *high])), text),
        [2 | 3, _, a, b, c, d, text @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, text),
        [] | [1..=3, ..] => return Err(cut()),
        [version, ..] => return Err(format!("its npy version is {version}, not 1 to 3")),
    };
    if length > HEADER_LIMIT {
        return Err(format!(
            "its header has {length} bytes; the limit is {HEADER_LIMIT}"
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
                "its header nests brackets more than {DEPTH_LIMIT} deep"
            ));
        }
    }
    Ok(bytes.len() - text.len() + length)
}
