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

/// The beginning of a page that loads nothing and runs nothing, as far as its heading. `pictures` are the
/// styles that pictures in it bring along.
pub(crate) fn still_page(title: &str, style: &str, pictures: &[&str]) -> String {
    let title = escape(title);
    let styles = [style].into_iter().chain(pictures.iter().copied());
    let allowed: Vec<String> = styles
        .map(|style| format!("'sha256-{}'", hash(style)))
        .collect();
    let allowed = allowed.join(" ");
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src {allowed}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
"#
    )
}
