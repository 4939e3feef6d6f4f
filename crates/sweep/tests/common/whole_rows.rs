//! Rows of made-up runs, with all that every row has.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used)]

/// The fields of the row of every finished run.
pub const FIELDS: [&str; 17] = [
    "epoch_loss",
    "final_loss",
    "accuracy",
    "precision",
    "recall",
    "f1",
    "held_out_final_loss",
    "held_out_accuracy",
    "held_out_precision",
    "held_out_recall",
    "held_out_f1",
    "min_positive",
    "max_negative",
    "attention_positive",
    "attention_negative",
    "learned_at_step",
    "weights_sha256",
];

/// A row of these fields, in JSON, and null in place of the others that every row has.
pub fn whole(row: &str) -> String {
    let lacks = |name: &&str| !row.contains(&format!("\"{name}\":"));
    let nulls = FIELDS.into_iter().filter(lacks);
    let nulls = nulls.map(|name| format!(",\"{name}\":null"));
    row.strip_suffix('}').unwrap().to_owned() + &nulls.collect::<String>() + "}"
}
