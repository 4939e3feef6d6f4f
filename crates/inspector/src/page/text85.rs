//! Bytes as text for a script element: four bytes become five letters, where Base64 needs five and a third.

/// Digits are the ASCII letters from `FIRST` on, but for `<`, which could end an element.
const FIRST: u8 = b'(';
const FORBIDDEN: u8 = b'<';
const INSTEAD: u8 = b'~';

/// Each four bytes, big-endian, as five digits of base 85, the highest first. Zeros fill up the last four
/// bytes, so a reader needs the number of bytes too.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(4) * 5);
    for chunk in bytes.chunks(4) {
        let mut four = [0; 4];
        four[..chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes(four);
        for power in (0..5).rev() {
            let letter = FIRST + (word / 85_u32.pow(power) % 85) as u8;
            text.push(char::from(if letter == FORBIDDEN {
                INSTEAD
            } else {
                letter
            }));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_letter_ends_an_element() {
        let bytes: Vec<u8> = (0..2000_u32).map(|at| (at * at / 7) as u8).collect();
        let text = encode(&bytes);
        assert_eq!(text.len(), 2500);
        assert!(
            text.bytes()
                .all(|letter| letter.is_ascii_graphic() && letter != b'<')
        );
        assert_eq!(encode(&[0, 0, 0, 1]), "(((()");
        assert_eq!(encode(&[0, 0, 0, 20]), "((((~");
        assert_eq!(encode(&[255]), encode(&[255, 0, 0, 0]));
    }
}
