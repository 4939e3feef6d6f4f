//! Bytes as text for a script element: two letters hold 13 or 14 bits, where Base64 holds 12.

/// Digits are the ASCII letters from `FIRST` on. Three of them would end an element or an attribute, so others stand in
/// for them.
const FIRST: u8 = b'$';
const BASE: u32 = 91;

/// Two digits have more values than 13 bits: the first of these values tell one bit more.
const WIDE: u32 = BASE * BASE - (1 << 13);

/// The bits of the bytes, the lowest first, as pairs of digits of base 91, the lower digit first. The last pair holds
/// zeros beyond the last bit, so a reader needs the number of bytes too. `page/src/packed.js` reads the text.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 5 / 4 + 2);
    let (mut queue, mut held) = (0_u32, 0);
    for &byte in bytes {
        queue |= u32::from(byte) << held;
        held += 8;
        if held > 13 {
            let taken = if queue & 0x1fff < WIDE { 14 } else { 13 };
            push(&mut text, queue & ((1 << taken) - 1));
            queue >>= taken;
            held -= taken;
        }
    }
    if held > 0 {
        push(&mut text, queue);
    }
    text
}

fn push(text: &mut String, pair: u32) {
    for digit in [pair % BASE, pair / BASE] {
        text.push(match FIRST + digit as u8 {
            b'&' => '!',
            b'<' => '#',
            letter => char::from(letter),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `page/src/packed.js` does.
    fn decode(text: &str, length: usize) -> Vec<u8> {
        let digit = |letter| match letter {
            b'!' => u32::from(b'&' - FIRST),
            b'#' => u32::from(b'<' - FIRST),
            letter => u32::from(letter - FIRST),
        };
        let (mut bytes, mut queue, mut held) = (Vec::new(), 0_u32, 0);
        for pair in text.as_bytes().chunks(2) {
            let value = digit(pair[0]) + BASE * digit(pair[1]);
            queue |= value << held;
            held += if value & 0x1fff < WIDE { 14 } else { 13 };
            while held > 7 {
                bytes.push(queue as u8);
                queue >>= 8;
                held -= 8;
            }
        }
        bytes.truncate(length);
        bytes
    }

    #[test]
    fn a_reader_gets_the_bytes_back() {
        let bytes: Vec<u8> = (0..5000_u32).map(|at| (at * at / 7) as u8).collect();
        for length in (0..70).chain([bytes.len()]) {
            assert_eq!(decode(&encode(&bytes[..length]), length), bytes[..length]);
        }
        for one in [0_u8, 1, 88, 89, 254, 255] {
            let alike = vec![one; 100];
            assert_eq!(decode(&encode(&alike), 100), alike);
        }
    }

    #[test]
    fn no_letter_ends_an_element_or_an_attribute() {
        let bytes: Vec<u8> = (0..40_000_u32).map(|at| (at * at / 7) as u8).collect();
        let text = encode(&bytes);
        assert!(text.len() < bytes.len() * 1231 / 1000);
        let is_plain = |letter: u8| letter.is_ascii_graphic() && !b"<&\"".contains(&letter);
        assert!(text.bytes().all(is_plain));
    }
}
