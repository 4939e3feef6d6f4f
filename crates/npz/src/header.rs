//! Headers of `.npy` files: checks, made before `npyz` parses one, and strings, which it does not know.

use std::iter;

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

/// A string without dimensions as a `.npy` file, in UTF-32.
pub(crate) fn string(text: &str) -> Vec<u8> {
    encoded(&[text], "")
}

/// A list of strings as a `.npy` file.
pub(crate) fn strings(texts: &[impl AsRef<str>]) -> Vec<u8> {
    encoded(texts, &format!("{},", texts.len()))
}

fn encoded(texts: &[impl AsRef<str>], shape: &str) -> Vec<u8> {
    let widths = texts.iter().map(|text| text.as_ref().chars().count());
    let width = widths.max().unwrap_or(0);
    let header = format!("{STRING}{width}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic number, version and length take ten bytes; the data starts at a multiple of 64.
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(format!("{header:width$}\n", width = length - 1).bytes());
    for text in texts {
        // NumPy fills a string up with zeros.
        let characters = text.as_ref().chars().chain(iter::repeat('\0')).take(width);
        bytes.extend(characters.flat_map(|character| u32::from(character).to_le_bytes()));
    }
    bytes
}

/// The text of a string without dimensions.
pub(crate) fn text(bytes: &[u8]) -> Result<String, String> {
    let start = check(bytes)?;
    let header = String::from_utf8_lossy(&bytes[..start]);
    if !header.contains(STRING) || !header.contains("'shape': ()") {
        return Err("it is not a string without dimensions".to_owned());
    }
    decoded(&bytes[start..])
}

/// The texts of a list of strings.
pub(crate) fn texts(bytes: &[u8]) -> Result<Vec<String>, String> {
    let start = check(bytes)?;
    let header = String::from_utf8_lossy(&bytes[..start]);
    let between = |from: &str, to: &str| {
        let rest = header.split_once(from)?.1;
        rest.split_once(to)?.0.parse::<usize>().ok()
    };
    let (width, count) = between(STRING, "'")
        .zip(between("'shape': (", ",)"))
        .ok_or("it is not a list of strings")?;
    let size = width.checked_mul(4).filter(|&size| size > 0);
    let size = size.filter(|&size| count.checked_mul(size) == Some(bytes.len() - start));
    let size = size.ok_or("its length is not that of its header")?;
    bytes[start..].chunks(size).map(decoded).collect()
}

/// Text in UTF-32.
fn decoded(bytes: &[u8]) -> Result<String, String> {
    let (characters, rest) = bytes.as_chunks::<4>();
    let decoded = characters
        .iter()
        .map(|&character| char::from_u32(u32::from_le_bytes(character)));
    let decoded: Option<String> = decoded.collect();
    match decoded {
        Some(text) if rest.is_empty() => Ok(text.trim_end_matches('\0').to_owned()),
        _ => Err("it is not UTF-32 text".to_owned()),
    }
}

/// The header of a string, up to its length.
const STRING: &str = "{'descr': '<U";
