//! The page as one HTML file that loads nothing and runs only its own script.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::again::LAB;
use super::{Again, Page, fallback, text85};
use crate::markup::{escape, file, source_of};
use crate::theme::properties;

const STYLE: &str = include_str!("page.css");

/// The fixed part of the page's body.
const BODY: &str = include_str!("body.html");

/// The script's parts. Sections at the end of the page stand in this order.
const SCRIPTS: [&str; 20] = [
    include_str!("js/data.js"),
    include_str!("js/recorded.js"),
    include_str!("js/lab.js"),
    include_str!("js/live.js"),
    include_str!("js/dom.js"),
    include_str!("js/classes.js"),
    include_str!("js/runs.js"),
    include_str!("js/colour.js"),
    include_str!("js/view.js"),
    include_str!("js/heatmap.js"),
    include_str!("js/time.js"),
    include_str!("js/table.js"),
    include_str!("js/chain.js"),
    include_str!("js/samples.js"),
    include_str!("js/seeds.js"),
    include_str!("js/evidence.js"),
    include_str!("js/export.js"),
    include_str!("js/own.js"),
    include_str!("js/training.js"),
    include_str!("js/main.js"),
];

impl Page {
    /// The page as HTML, for any browser from 2023 or later, without a network. Empty for a page without
    /// runs.
    ///
    /// # Errors
    /// If compression or serialisation fails.
    pub fn html(&self) -> std::io::Result<String> {
        let Some((_, last)) = self.first() else {
            return Ok(String::new());
        };
        // Only `<` could end a script element; the others are not characters.
        let facts = serde_json::to_string(&self.facts())?
            .replace('<', "\\u003c")
            .replace('\u{fffe}', "\\ufffe")
            .replace('\u{ffff}', "\\uffff");
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
        deflate.write_all(&self.numbers())?;
        let packed = deflate.finish()?;
        let (bytes, numbers) = (packed.len(), text85::encode(&packed));
        let (style, script) = (lean(&[&properties(), STYLE]), lean(&SCRIPTS));
        let mut sources = format!(
            "script-src {}; style-src {}; img-src blob: data:",
            source_of(&script),
            source_of(&style)
        );
        let mut lab = String::new();
        let is_live = |run: &super::PageRun| matches!(run.again, Again::Live { .. });
        if self.runs.iter().any(is_live) {
            sources = sources.replacen("script-src", "script-src 'wasm-unsafe-eval'", 1);
            sources += "; worker-src blob:";
            lab = format!(
                "<script type=\"text/plain\" id=\"lab\" data-bytes=\"{}\">{}</script>\n",
                LAB.len(),
                text85::encode(LAB)
            );
        }
        let title = self.title();
        let (heading, fallback) = (escape(&title), fallback::table(last));
        let body = format!(
            r#"<header><h1>{heading}</h1><p id="question"></p><p id="origin" role="status"></p></header>
<noscript><main><p>Without scripts, this page shows only this table.</p>
{fallback}</main></noscript>
{BODY}
<script type="application/json" id="facts">{facts}</script>
<script type="text/plain" id="numbers" data-bytes="{bytes}">{numbers}</script>
{lab}<script>{script}</script>"#
        );
        let icon = "<link rel=\"icon\" href=\"data:,\">\n";
        Ok(file(&title, &sources, icon, &style, &body))
    }
}

/// Removes indentation, empty lines and comment lines, which make a page larger and help no browser.
fn lean(parts: &[&str]) -> String {
    let lines = parts.iter().flat_map(|part| part.lines()).map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.fold(String::from("\n"), |text, line| text + line + "\n")
}
