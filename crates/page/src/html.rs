//! The page as one HTML file that loads nothing and runs only its own script.

use std::fmt::Write as _;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

use headlight_report::Document;
use headlight_report::markup::{escape, file, source_of};
use headlight_report::theme::properties;

use crate::Page;
use crate::again::LAB;

// What the package in `crates/page/script` is bundled to, for pages of all kinds. The page holds style and script packed,
// and a loader puts them in.
const STYLE: Packed = Packed {
    bytes: include_bytes!("bundle/page.css.gz"),
    source: include_str!("bundle/page.css.source"),
};
const SCRIPT: Packed = Packed {
    bytes: include_bytes!("bundle/page.js.gz"),
    source: include_str!("bundle/page.js.source"),
};
const LOADER: &str = include_str!("bundle/loader.js");

/// A style or a script that the loader unpacks and puts in.
struct Packed {
    bytes: &'static [u8],
    /// The source by which a content security policy allows it.
    source: &'static str,
}

impl Page {
    /// The page as HTML, for any browser from 2023 or later, without a network. Empty for a page that has neither a
    /// run nor an experiment.
    ///
    /// # Errors
    /// If compression or serialisation fails.
    pub fn html(&self) -> std::io::Result<String> {
        if self.runs.is_empty() && self.lab.is_none() {
            return Ok(String::new());
        }
        let title = self.title();
        let heading = match &self.question {
            Some(question) => format!("<h1>{}</h1>\n<p>{}</p>", escape(question), escape(&title)),
            None => format!("<h1>{}</h1>", escape(&title)),
        };
        // Only `<` could end a script element; the others are not characters.
        let facts = serde_json::to_string(&self.facts())?
            .replace('<', "\\u003c")
            .replace('\u{fffe}', "\\ufffe")
            .replace('\u{ffff}', "\\uffff");
        // The script puts its own in place of the header.
        let mut body = format!(
            r#"<div id="page"><header>{heading}</header></div>
<noscript><main><p>This page needs scripts.</p></main></noscript>
<script type="application/json" id="facts">{facts}</script>
"#
        );
        if !self.runs.is_empty() {
            hold(&mut body, "numbers", &gzipped(&self.numbers())?);
        }
        let trained = self.trained();
        let (mut compiling, mut workers) = ("", "");
        if trained.is_some() {
            hold(&mut body, "lab", LAB);
            (compiling, workers) = ("'wasm-unsafe-eval' ", "; worker-src blob:");
        }
        // The script starts at once, so all that it reads stands before it.
        let [scripts, style] = hold_script(&mut body);
        let colours = properties();
        let styles = format!("{} {style}", source_of(&colours));
        let sources = format!(
            "script-src {compiling}{scripts}; style-src {styles}; img-src blob: data:{workers}"
        );
        let links = format!(
            "<link rel=\"icon\" href=\"data:,\">\n{}",
            self.preview(&title)
        );
        Ok(file(&title, &sources, &links, &colours, &body))
    }

    /// What a link to the page shows before it is opened: the question, the result, and what the page does.
    ///
    /// <https://ogp.me>
    fn preview(&self, title: &str) -> String {
        let question = self.question.as_deref();
        let result = match self.runs.as_slice() {
            [only] => only.outcome.as_deref(),
            _ => None,
        };
        let does = match (&self.attention, self.trained()) {
            (Some(_), _) => "Where the attention of a model looks.",
            (None, Some(_)) => {
                "A tiny transformer trains in your browser, and you see where its attention looks."
            }
            (None, None) => "Where the attention of a tiny transformer looks.",
        };
        let all: Vec<&str> = question.into_iter().chain(result).chain([does]).collect();
        let (title, text) = (escape(question.unwrap_or(title)), escape(&all.join(" ")));
        format!(
            r#"<meta name="description" content="{text}">
<meta property="og:type" content="website">
<meta property="og:title" content="{title}">
<meta property="og:description" content="{text}">
"#
        )
    }
}

fn gzipped(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes)?;
    packed.finish()
}

/// A document whose script goes through the examples that `json` describes a step at a time.
pub fn stepwise(document: &Document, json: &str) -> String {
    let json = json.replace('<', "\\u003c");
    let mut elements = format!(
        "<script type=\"application/json\" id=\"facts\">{{\"runs\":[],\"example\":{json}}}</script>
"
    );
    let [scripts, style] = hold_script(&mut elements);
    document.html_with(&format!("script-src {scripts}; "), &style, &elements)
}

/// Adds the page's style and script, and what puts them in. Returns the sources by which a policy allows scripts and the style.
fn hold_script(body: &mut String) -> [String; 2] {
    hold(body, "style", STYLE.bytes);
    hold(body, "script", SCRIPT.bytes);
    let _ = writeln!(body, "<script>{LOADER}</script>");
    let scripts = format!("{} {}", source_of(LOADER), SCRIPT.source);
    [scripts, STYLE.source.to_owned()]
}

/// Adds an element that holds packed bytes, which `script/src/model/packed.ts` reads.
fn hold(body: &mut String, id: &str, bytes: &[u8]) {
    let text = STANDARD.encode(bytes);
    let _ = writeln!(
        body,
        "<script type=\"text/plain\" id=\"{id}\">{text}</script>"
    );
}
