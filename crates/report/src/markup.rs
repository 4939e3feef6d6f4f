//! HTML files that load nothing, and text inside them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Escapes text for HTML and SVG, and replaces the characters that XML does not allow, and other control characters.
///
/// <https://www.w3.org/TR/xml/#charsets>
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace(
            |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'),
            "\u{fffd}",
        )
}

/// The source by which a content security policy allows one style or script and no other.
pub fn source_of(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// An HTML file with one style sheet. `sources` are directives of its content security policy, which
/// forbids all else; `links` are elements of its head.
pub fn file(title: &str, sources: &str, links: &str, style: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; {sources}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
{links}<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"#
    )
}
