//! What the columns of a summary share.

use serde_json::Value;

/// Keeps some values of a column.
pub(super) fn retain<T>(values: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    values.retain(|_| keep.next().is_some_and(|keep| *keep));
}

/// NaN if the value is missing, `None` if it is not a number.
pub(super) fn number(value: Option<&Value>) -> Option<f64> {
    match value {
        None | Some(Value::Null) => Some(f64::NAN),
        Some(value) => value.as_f64(),
    }
}
