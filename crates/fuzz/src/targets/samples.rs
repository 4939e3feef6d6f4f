//! Samples: dataset files and lists of tokens.

use std::io::Cursor;

use headlight_data::files::{Format, read, write};
use headlight_data::{Dataset, LabelRule, Splits};

fn read_as(bytes: &[u8], format: Format) {
    if let Ok(splits) = read(Cursor::new(bytes), format, "") {
        // Whatever was read can be written and read again.
        let mut again = Vec::new();
        write(&splits, format, &mut again).unwrap();
        assert_eq!(read(Cursor::new(again), format, ""), Ok(splits));
    }
}

fn seeds_as(format: Format) -> Vec<Vec<u8>> {
    let rule = LabelRule::TokenAnywhere { token: 3 };
    let of = |samples: &[[u32; 4]]| {
        let mut dataset = Dataset::empty(3);
        for sample in samples {
            dataset.push_labelled(sample, &rule, 2);
        }
        dataset
    };
    let splits = Splits {
        train: of(&[[0, 1, 2, 3], [0, 4, 4, 1]]),
        held_out: of(&[[0, 3, 1, 1]]),
    };
    let mut bytes = Vec::new();
    write(&splits, format, &mut bytes).unwrap();
    vec![bytes]
}

/// A dataset as npz.
pub(crate) mod npz {
    use super::{Format, read_as, seeds_as};

    pub(crate) fn read(bytes: &[u8]) {
        read_as(bytes, Format::Npz);
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        seeds_as(Format::Npz)
    }
}

/// A dataset as CSV.
pub(crate) mod csv {
    use super::{Format, read_as, seeds_as};

    pub(crate) fn read(bytes: &[u8]) {
        read_as(bytes, Format::Csv);
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        seeds_as(Format::Csv)
    }
}

/// A dataset as JSON lines.
pub(crate) mod jsonl {
    use super::{Format, read_as, seeds_as};

    pub(crate) fn read(bytes: &[u8]) {
        read_as(bytes, Format::Jsonl);
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        seeds_as(Format::Jsonl)
    }
}

/// A list of tokens, as `dump --tokens` and `predict --tokens` take it.
pub(crate) mod tokens {
    use std::io::Cursor;

    use headlight_trainer::samples::{parse_lines, parse_tokens};

    use crate::targets::quick;

    pub(crate) fn read(bytes: &[u8]) {
        let _ = parse_lines(Cursor::new(bytes), quick());
        if let Ok(text) = str::from_utf8(bytes) {
            let _ = parse_tokens(text, quick());
        }
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        [
            "0 45 48 1 4 4 40\n\n0 1 2 3 4 5 6\n",
            "0 45 48 1 4 4 40",
            "0 51 1",
        ]
        .map(Into::into)
        .to_vec()
    }
}
