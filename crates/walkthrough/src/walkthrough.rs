//! A walkthrough: the examples of a document, computed and checked.

use headlight_input::toml_message::{Unknown, line_and_column, plain};
use serde::Serialize;

use crate::compute::{Computed, Stages};
use crate::keys::Keys;
use crate::published::Published;
use crate::text::one_line;

/// The largest file, in bytes. Parsing can take 100 bytes of memory per byte of TOML.
pub const MAX_BYTES: u64 = 1 << 20;

/// The most cases in a file.
const MAX_CASES: usize = 16;

/// The examples of a document, computed, and compared with the numbers that it prints. In JSON, `null` among numbers is minus
/// infinity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Walkthrough {
    /// The name of the example.
    pub title: String,
    /// The document that the example comes from.
    pub source: Option<String>,
    /// What the reader should notice.
    pub about: Option<String>,
    /// The number of entries whose printed numbers are wrong.
    pub errata: usize,
    /// Its cases; at least one.
    pub cases: Vec<WorkedCase>,
}

/// One variant of an example, computed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkedCase {
    /// How it differs from the other cases; `None` if it is the only one.
    pub title: Option<String>,
    /// What the reader should notice.
    pub about: Option<String>,
    /// The factor of the scores: scale divided by temperature.
    pub factor: f64,
    /// The divisor of scaled scores.
    pub temperature: f64,
    /// Its stages, in the order of computation.
    pub stages: Vec<Computed>,
    /// The numbers that the document prints for them.
    pub published: Vec<Published>,
}

impl Walkthrough {
    /// Reads, computes and checks a walkthrough file, which messages call `name`.
    ///
    /// # Errors
    /// One sentence, with line and column if they are known.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, String> {
        let within = |message: &str| format!("{name}: {message}");
        if bytes.len() as u64 > MAX_BYTES {
            return Err(within("the file is larger than 1 MiB"));
        }
        let text = str::from_utf8(bytes).map_err(|_| within("the file is not UTF-8 text"))?;
        let keys: Keys = toml::from_str(text).map_err(|error| mistake(&error, name, text))?;
        Self::compute(&keys).map_err(|message| within(&message))
    }

    fn compute(keys: &Keys) -> Result<Self, String> {
        let title = keys.title.as_deref().ok_or("`title` is missing")?;
        let cases = if keys.cases.is_empty() {
            let alone = Keys {
                title: None,
                about: None,
                ..keys.clone()
            };
            vec![WorkedCase::compute(&alone)?]
        } else {
            variants(keys)?
        };
        let published = cases.iter().flat_map(|case| &case.published);
        Ok(Self {
            title: one_line(title),
            source: keys.source.as_deref().map(one_line),
            about: keys.about.as_deref().map(one_line),
            errata: published.filter(|published| published.erratum).count(),
            cases,
        })
    }
}

/// Computes the cases of a file with `[[case]]` sections.
fn variants(top: &Keys) -> Result<Vec<WorkedCase>, String> {
    if !top.published.is_empty() {
        return Err(
            "in a file with cases, `published` belongs to a case: write [[case.published]] below it"
                .to_owned(),
        );
    }
    if top.cases.len() > MAX_CASES {
        return Err(format!(
            "there are {} cases; at most {MAX_CASES} are allowed",
            top.cases.len()
        ));
    }
    let compute = |case: &Keys| {
        let title = case.title.as_deref().ok_or("a case has no `title`")?;
        let misplaced = if case.source.is_some() || !case.cases.is_empty() {
            Err("`source` and `case` belong at the top".to_owned())
        } else {
            Ok(())
        };
        misplaced
            .and_then(|()| WorkedCase::compute(&case.clone().inherit(top)))
            .map_err(|message| format!("case “{}”: {message}", one_line(title)))
    };
    top.cases.iter().map(compute).collect()
}

impl WorkedCase {
    fn compute(keys: &Keys) -> Result<Self, String> {
        let stages = Stages::compute(keys)?;
        let check = |(index, entry)| {
            Published::check(entry, &stages.done)
                .map_err(|message| format!("`published` entry {}: {message}", index + 1))
        };
        let published = keys.published.iter().enumerate().map(check);
        Ok(Self {
            title: keys.title.as_deref().map(one_line),
            about: keys.about.as_deref().map(one_line),
            factor: stages.factor(),
            temperature: stages.temperature,
            published: published.collect::<Result<_, _>>()?,
            stages: stages.done,
        })
    }
}

/// What the TOML reader says.
fn mistake(error: &toml::de::Error, name: &str, text: &str) -> String {
    let mut message = plain(error.message());
    if let Some(unknown) = Unknown::parse(&message) {
        let what = if unknown.what == "field" {
            "key"
        } else {
            "stage"
        };
        let suggestion = unknown.suggestion("it can be");
        message = format!("unknown {what} `{}`{suggestion}", unknown.name);
    }
    let (line, column) = line_and_column(text, error.span().map_or(0, |span| span.start));
    format!("{name}:{line}:{column}: {message}")
}
