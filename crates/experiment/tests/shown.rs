//! The position whose attention is shown.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::parse;
use headlight_experiment::config::ExperimentConfig;

fn config(changes: &[&str]) -> ExperimentConfig {
    parse(changes).unwrap()
}

#[test]
fn padding_is_not_shown_for_the_mean() {
    let (none, mean) = ("data.cls=none", "model.pooling=mean");
    let padding = "model.attention.padding_token=8";
    let last = config(&[none, "model.pooling=last", padding]);
    assert!(!last.reads_mean() && last.mean_note().is_none());
    assert_eq!(
        (
            last.readout_position(&[1, 2, 8]),
            &*last.displayed_readout_name()
        ),
        (2, "position 2")
    );
    let padded = config(&[none, mean, padding]);
    assert!(padded.reads_mean() && padded.mean_note().is_some());
    assert_eq!(padded.readout_position(&[1, 2, 8]), 1);
    assert_eq!(padded.readout_position(&[1, 2, 3]), 2);
    assert_eq!(padded.readout_position(&[8, 8, 8]), 2);
    assert_eq!(padded.displayed_readout_name(), "the last token");
    let unpadded = config(&[none, mean]);
    assert_eq!(
        (
            unpadded.readout_position(&[1, 2, 8]),
            &*unpadded.displayed_readout_name()
        ),
        (2, "position 2")
    );
    let with_cls = config(&[mean, padding]);
    assert_eq!(
        (
            with_cls.readout_position(&[0, 1, 8, 8]),
            &*with_cls.displayed_readout_name()
        ),
        (0, "[CLS]")
    );
}
