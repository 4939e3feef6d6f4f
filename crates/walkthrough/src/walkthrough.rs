//! A walkthrough: a document's examples, computed and checked.

use crate::case::Case;
use crate::compute::{Computed, compute};
use crate::format::Keys;
use crate::mistake::{At, Mistake, unreadable};
use crate::published::{Published, one_line};

/// The most bytes of a file. Parsed, a byte of TOML can become 100 bytes of memory.
pub const MOST_BYTES: u64 = 1 << 20;

/// The most cases of a file.
const MOST_CASES: usize = 16;

/// A document's examples, computed, and checked against what it prints.
#[derive(Clone, Debug, PartialEq)]
pub struct Walkthrough {
    /// What is computed.
    pub title: String,
    /// The document that the example is from.
    pub source: Option<String>,
    /// What there is to see.
    pub about: Option<String>,
    /// Its cases, one at least.
    pub cases: Vec<WorkedCase>,
}

/// One variant of an example, computed.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkedCase {
    /// What makes it differ from the others; `None` where there are no others.
    pub title: Option<String>,
    /// What there is to see.
    pub about: Option<String>,
    /// Its stages, in the order of computation.
    pub stages: Vec<Computed>,
    /// What the document prints of them.
    pub published: Vec<Published>,
}

impl Walkthrough {
    /// Reads, computes and checks a walkthrough file.
    ///
    /// # Errors
    /// In one sentence, with line and column where they are known.
    pub fn read(bytes: &[u8]) -> Result<Self, Mistake> {
        let whole = |message: &str| Mistake {
            place: None,
            message: message.to_owned(),
        };
        if bytes.len() as u64 > MOST_BYTES {
            return Err(whole("the file is larger than 1 MiB"));
        }
        let text = str::from_utf8(bytes).map_err(|_| whole("the file is not UTF-8 text"))?;
        if text.trim().is_empty() {
            return Err(whole("the file is empty"));
        }
        let keys: Keys = toml::from_str(text).map_err(|error| unreadable(&error, text))?;
        Self::work(&keys).map_err(|at| at.place(text))
    }

    fn work(keys: &Keys) -> Result<Self, At> {
        let Some(title) = &keys.title else {
            return Err(At::new(0..0, "`title` is missing"));
        };
        let cases = if keys.cases.is_empty() {
            vec![WorkedCase::work(keys, 0..0)?]
        } else {
            variants(keys)?
        };
        Ok(Self {
            title: one_line(title.get_ref()),
            source: keys.source.as_ref().map(|text| one_line(text.get_ref())),
            about: keys.about.as_ref().map(|text| one_line(text.get_ref())),
            cases,
        })
    }

    /// How many of the document's rows of numbers are wrong.
    pub fn errata(&self) -> usize {
        let published = self.cases.iter().flat_map(|case| &case.published);
        published.filter(|published| published.is_erratum()).count()
    }
}

/// The cases of a file that has any.
fn variants(keys: &Keys) -> Result<Vec<WorkedCase>, At> {
    if let Some(published) = keys.published.first() {
        return Err(At::new(
            published.span(),
            "with cases, `published` belongs into a case: write [[case.published]] below it",
        ));
    }
    if let Some(case) = keys.cases.get(MOST_CASES) {
        return Err(At::new(
            case.span(),
            format!(
                "there are {} cases; at most {MOST_CASES} are shown",
                keys.cases.len()
            ),
        ));
    }
    let work = |case: &toml::Spanned<Keys>| {
        let own = case.get_ref();
        if let Some(source) = &own.source {
            return Err(At::new(
                source.span(),
                "`source` belongs to the top, not into a case",
            ));
        }
        if let Some(inner) = own.cases.first() {
            return Err(At::new(inner.span(), "a case cannot hold cases"));
        }
        let Some(title) = &own.title else {
            return Err(At::new(case.span(), "`title` of a case is missing"));
        };
        let title = one_line(title.get_ref());
        let mut worked = WorkedCase::work(&own.clone().over(keys), case.span())?;
        worked.title = Some(title);
        worked.about = own.about.as_ref().map(|text| one_line(text.get_ref()));
        Ok(worked)
    };
    keys.cases.iter().map(work).collect()
}

impl WorkedCase {
    fn work(keys: &Keys, span: std::ops::Range<usize>) -> Result<Self, At> {
        let case = Case::check(keys, span)?;
        let stages = compute(&case)?;
        let published = case
            .published
            .iter()
            .map(|entry| Published::check(entry, &stages))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            title: None,
            about: None,
            stages,
            published,
        })
    }
}
