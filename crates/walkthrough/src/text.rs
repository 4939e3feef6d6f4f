//! Texts of a file, as tables and pages show them.

/// Joins a text to one line, and replaces control characters.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(char::is_control, "\u{fffd}")
}
