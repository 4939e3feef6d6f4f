//! Text inside HTML and SVG.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Text that is only text: nothing in it is markup, and nothing in it is no XML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace(char::is_control, "\u{fffd}")
}

/// The hash by which a page's policy allows a style or a script, and no other.
pub(crate) fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}
