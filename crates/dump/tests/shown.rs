//! The position whose attention is shown, and the strongest head of its row.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{DIMS, dump};
use headlight_dump::{Array, AttentionDump};

/// The dump with weights of its own: each row looks at itself, but for this row of this head and sample, which looks at this key.
fn looking(read: usize, [sample, head, row, key]: [usize; 4]) -> AttentionDump {
    let mut dump = dump();
    dump.meta.read_position = Some(read);
    let positions = DIMS.positions;
    let own = (sample * DIMS.layers * DIMS.heads + head) * positions + row;
    let weights = &mut dump.arrays[Array::Weights];
    for (index, weights) in weights.chunks_mut(positions).enumerate() {
        weights.fill(0.0);
        let key = if index == own { key } else { index % positions };
        weights[key] = 1.0;
    }
    dump
}

#[test]
fn the_strongest_head_is_that_of_the_shown_row() {
    // Sample 0 has the label 1, and position 1 decides it.
    for read in [0, 2, 3] {
        for head in [0, 1] {
            assert_eq!(
                looking(read, [0, head, read, 1]).strongest_head(0).head,
                head
            );
        }
        let other = (read + 1) % DIMS.positions;
        assert_eq!(looking(read, [0, 1, other, 1]).strongest_head(0).head, 0);
        assert_eq!(looking(read, [1, 1, read, 1]).strongest_head(0).head, 0);
        assert_eq!(looking(read, [0, 1, read, 1]).strongest_head(1).head, 0);
    }
}

#[test]
fn a_mean_is_said_and_does_not_show_padding() {
    let mut dump = dump();
    dump.meta.read_position = Some(3);
    assert_eq!((dump.readout_position(0), dump.mean_note()), (3, ""));
    // Where one position is read, it is shown with its padding.
    dump.meta.config = serde_json::json!({"model": {"attention": {"padding_token": 3}}});
    assert_eq!(
        (dump.readout_position(1), dump.unpadded(1)),
        (3, vec![0, 1, 3])
    );
    dump.meta.config =
        serde_json::json!({"model": {"pooling": "mean", "attention": {"padding_token": 3}}});
    assert!(dump.reads_mean() && !dump.mean_note().is_empty());
    // The second sample ends in two tokens of padding.
    assert_eq!([0, 1].map(|sample| dump.readout_position(sample)), [3, 1]);
    assert_eq!(dump.readout_name(1), "position 1");
    dump.tokens[4..].fill(3);
    assert_eq!(dump.readout_position(1), 3);
}
