//! What tests of several crates are about.
#![allow(missing_docs, unreachable_pub)]

use headlight_architecture::Inputs;

/// Inputs of two classes with `[CLS]` first.
pub fn inputs(vocab_size: usize, positions: usize) -> Inputs {
    Inputs {
        vocab_size,
        positions,
        cls: Some(0),
        read_position: 0,
        n_classes: 2,
        per_position: false,
    }
}
