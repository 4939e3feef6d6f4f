//! Text inside HTML and SVG.

/// Text that is only text: nothing in it is markup, and nothing in it is no XML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace(char::is_control, "\u{fffd}")
}
