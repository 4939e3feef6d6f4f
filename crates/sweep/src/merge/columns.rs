//! The order of a table's columns.

/// The order of a row's fields; the grid's keys come after `point`.
const ORDER: [&str; 21] = [
    "seed",
    "point",
    "",
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
    "config_sha256",
];

/// The most columns of a table: a row with a longer list, or so many fields, is none of a sweep's.
pub(super) const COLUMN_LIMIT: usize = 1 << 16;

/// Where a field stands; what is none of a row's fields comes last.
pub(super) fn place(field: &str) -> usize {
    let known = ORDER.iter().position(|name| *name == field);
    known.unwrap_or(if field.contains('.') { 2 } else { ORDER.len() })
}
