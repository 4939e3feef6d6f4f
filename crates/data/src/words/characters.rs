//! The classes of characters that words are told by.
//!
//! `characters.bin` has them as runs of characters with the same classes: the classes, and how many characters follow with
//! them, seven bits a byte, the lowest first. `UPDATE_GOLDEN=1 cargo test -p headlight-data words` writes it, from the tables
//! of `regex-syntax`: the page, too, splits texts, and has no room for these.

use std::sync::LazyLock;

/// The classes of characters in the pattern of words, a bit for each.
pub(super) const FIRST: u8 = 1;
pub(super) const LATER: u8 = 2;
pub(super) const AFTER_APOSTROPHE: u8 = 4;
pub(super) const SIGN: u8 = 8;
pub(super) const MARK: u8 = 16;
pub(super) const BETWEEN: u8 = 32;

const RUNS: &[u8] = include_bytes!("characters.bin");

/// The classes of each character.
static TABLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut table = Vec::with_capacity(char::MAX as usize + 1);
    let mut bytes = RUNS.iter();
    while let Some(&classes) = bytes.next() {
        let (mut count, mut shift) = (0, 0);
        for &byte in bytes.by_ref() {
            count |= usize::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                break;
            }
        }
        table.resize(table.len() + count, classes);
    }
    table
});

pub(super) fn is(c: char, classes: u8) -> bool {
    TABLE[c as usize] & classes != 0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use regex_syntax::hir::{Class, HirKind};

    use super::*;

    const CLASSES: [(u8, &str); 6] = [
        (FIRST, r"[\p{L}\p{N}_]"),
        (LATER, r"[\p{L}\p{M}\p{N}_\x{200C}\x{200D}]"),
        (AFTER_APOSTROPHE, r"[\p{L}\p{M}\p{N}_]"),
        (SIGN, r"[\p{P}\p{S}]"),
        (MARK, r"\p{M}"),
        (BETWEEN, r"[\p{P}\p{Z}\p{C}]"),
    ];

    fn table() -> Vec<u8> {
        let mut table = vec![0; char::MAX as usize + 1];
        for (bit, class) in CLASSES {
            let parsed = regex_syntax::parse(class).unwrap();
            let HirKind::Class(Class::Unicode(class)) = parsed.into_kind() else {
                panic!("`{bit}` is no class of characters");
            };
            for range in class.ranges() {
                for classes in &mut table[range.start() as usize..=range.end() as usize] {
                    *classes |= bit;
                }
            }
        }
        table
    }

    #[test]
    fn classes_of_words_are_those_of_the_patterns() {
        let expected = table();
        let mut runs = Vec::new();
        for run in expected.chunk_by(|a, b| a == b) {
            runs.push(run[0]);
            let mut count = run.len();
            while count > 127 {
                runs.push(count as u8 | 128);
                count >>= 7;
            }
            runs.push(count as u8);
        }
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/words/characters.bin");
            std::fs::write(path, &runs).unwrap();
            return;
        }
        assert!(runs == RUNS, "run this test with UPDATE_GOLDEN=1");
        assert!(*TABLE == expected);
    }
}
