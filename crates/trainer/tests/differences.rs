//! The settings that differ between a checkpoint and a config.
#![allow(missing_docs)]

use headlight_trainer::train::resume::find_differences;

#[test]
fn differences_are_named_with_both_values() {
    let before =
        serde_json::json!({"a": 1, "b": {"c": "x", "d": [1]}, "gone": true, "training": {}});
    let now = serde_json::json!({"a": 1, "b": {"c": "y", "d": [1]}, "new": 2, "training": {"schedule": "linear"}});
    let mut found = Vec::new();
    find_differences("", &before, &now, &mut found);
    let text: Vec<String> = found
        .into_iter()
        .map(|(key, before, now)| format!("{key}: {before}, {now}"))
        .collect();
    assert_eq!(
        text,
        [
            "b.c: \"x\", \"y\"",
            "gone: true, not set",
            "new: not set, 2",
            "training.schedule: \"constant\", \"linear\"",
        ]
    );
}
