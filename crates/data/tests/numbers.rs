//! Whole numbers from a stream, for whoever draws none of the samples.
#![allow(missing_docs)]

use headlight_data::Stream;

/// Origin: `scripts/evidence/test_streams.py`, ChaCha8 from its definition.
#[rustfmt::skip]
const PINNED_NUMBERS: [u32; 7] = [51, 10, 18, 0, 0, 0, 39];

#[test]
fn numbers_of_a_stream_are_pinned() {
    let mut number = Stream::Inputs.numbers(7);
    assert_eq!([59, 59, 59, 11, 2, 1, 59].map(&mut number), PINNED_NUMBERS);
}
