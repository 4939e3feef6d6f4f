//! Samples that are in no file, as the page gives them.
#![allow(missing_docs, clippy::unwrap_used)]

use headlight_data::files::listed;
use headlight_data::{DatasetConfig, IGNORED};
use serde_json::json;

/// The token that follows the last one is known where a text was cut.
#[test]
fn the_next_token_may_be_given() {
    let given = [(&[3_i64, 1, 2][..], "0", "train"), (&[1, 2], "0", "train")];
    let rows = listed(given.into_iter(), "the samples").unwrap();
    let config: DatasetConfig = serde_json::from_value(json!({
        "task": "next-token", "file": "f", "vocab_size": 5, "seq_len": 3, "n_classes": 5, "cls": "none", "held_out": 0,
    }))
    .unwrap();
    let labels = |rows: headlight_data::files::Rows| {
        let train = rows.fit(&config, Some(4)).unwrap().train;
        [0, 1].map(|sample| train.labels_of(sample).to_vec())
    };
    assert_eq!(
        labels(rows.followed_by(vec![2, 3])),
        [vec![1, 2, 2], vec![2, 3, IGNORED]]
    );
    let rows = listed(given.into_iter(), "the samples").unwrap();
    assert_eq!(
        labels(rows),
        [vec![1, 2, IGNORED], vec![2, IGNORED, IGNORED]]
    );
}
