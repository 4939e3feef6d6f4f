//! The page: one file that loads nothing and runs only its own script.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::{Viewer, fallback, text85};
use crate::markup::{escape, hash};

const STYLE: &str = include_str!("viewer.css");

/// The fixed part of the page's body.
const BODY: &str = include_str!("body.html");

/// The script, in the order in which its parts stand in the page.
const SCRIPTS: [&str; 12] = [
    include_str!("js/data.js"),
    include_str!("js/runs.js"),
    include_str!("js/dom.js"),
    include_str!("js/colour.js"),
    include_str!("js/view.js"),
    include_str!("js/heatmap.js"),
    include_str!("js/time.js"),
    include_str!("js/chain.js"),
    include_str!("js/samples.js"),
    include_str!("js/seeds.js"),
    include_str!("js/export.js"),
    include_str!("js/main.js"),
];

impl Viewer {
    /// The page as HTML, for any browser of 2023 or later, without a network. Empty before a run
    /// was added.
    ///
    /// # Errors
    /// When memory does not suffice.
    pub fn html(&self) -> std::io::Result<String> {
        let Some((_, last)) = self.first() else {
            return Ok(String::new());
        };
        // In a script element only `<` could end it.
        let head = serde_json::to_string(&self.head())?.replace('<', "\\u003c");
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
        deflate.write_all(&self.numbers())?;
        let packed = deflate.finish()?;
        let (bytes, numbers) = (packed.len(), text85::encode(&packed));
        let (style, script) = (lean(&[STYLE]), lean(&SCRIPTS));
        let (style_hash, script_hash) = (hash(&style), hash(&script));
        let title = escape(&self.title());
        let fallback = fallback::table(last);
        Ok(format!(
            r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-{script_hash}'; style-src 'sha256-{style_hash}'; img-src blob: data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1></header>
<noscript><main><p>This page needs its script to show more than this table.</p>
{fallback}</main></noscript>
{BODY}
<script type="application/json" id="head">{head}</script>
<script type="text/plain" id="numbers" data-bytes="{bytes}">{numbers}</script>
<script>{script}</script>
</body>
</html>
"#
        ))
    }
}

/// Without indentation, empty lines, and lines that are a comment: the page is read by machines,
/// the files by people.
fn lean(parts: &[&str]) -> String {
    let lines = parts.iter().flat_map(|part| part.lines()).map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.fold(String::from("\n"), |text, line| text + line + "\n")
}
