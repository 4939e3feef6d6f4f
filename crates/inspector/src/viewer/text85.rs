//! Bytes as text that may stand in a script element: four bytes are five letters, where Base64
//! takes five and a third.

/// Letters start here and follow each other in ASCII; the one letter that could end an element is
/// replaced by one that is not among them.
const FIRST: u8 = b'(';
const FORBIDDEN: u8 = b'<';
const INSTEAD: u8 = b'~';

/// Each four bytes, the first highest, as five digits of base 85, the highest first. The last four
/// are filled up with zeros, so how many there were is to be said beside the text.
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

/// As `js/data.js` reads it.
#[cfg(test)]
pub(super) fn decode(text: &str) -> Vec<u8> {
    let digit =
        |&letter: &u8| u32::from(if letter == INSTEAD { FORBIDDEN } else { letter } - FIRST);
    let word = |five: &[u8]| {
        five.iter()
            .fold(0, |word, letter| word * 85 + digit(letter))
    };
    let words = text.as_bytes().chunks(5).map(word);
    words.flat_map(u32::to_be_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_no_letter_ends_an_element() {
        let bytes: Vec<u8> = (0..2000_u32).map(|at| (at * at / 7) as u8).collect();
        let text = encode(&bytes);
        assert_eq!(decode(&text), bytes);
        assert!(
            text.bytes()
                .all(|letter| letter.is_ascii_graphic() && letter != b'<')
        );
        assert_eq!(encode(&[0, 0, 0, 1]), "(((()");
        assert_eq!(
            decode(&encode(&[255; 5])),
            [255, 255, 255, 255, 255, 0, 0, 0]
        );
    }
}
