//! A walkthrough: the examples of a document, computed and checked.

use crate::case::Case;
use crate::compute::{Computed, compute};
use crate::keys::Keys;
use crate::mistake::{Mistake, MistakeAt, unreadable};
use crate::published::{Published, one_line};

/// The largest file, in bytes. Parsing can take 100 bytes of memory per byte of TOML.
pub const MOST_BYTES: u64 = 1 << 20;

/// The most cases in a file.
const MOST_CASES: usize = 16;

/// The examples of a document, computed, and compared with the numbers that it prints.
#[derive(Clone, Debug, PartialEq)]
pub struct Walkthrough {
    /// The name of the example.
    pub title: String,
    /// The document that the example comes from.
    pub source: Option<String>,
    /// What the reader should notice.
    pub about: Option<String>,
    /// Its cases; at least one.
    pub cases: Vec<WorkedCase>,
}

/// One variant of an example, computed.
#[derive(Clone, Debug, PartialEq)]
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
    /// Reads, computes and checks a walkthrough file.
    ///
    /// # Errors
    /// One sentence, with line and column if they are known.
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
        Self::compute(&keys).map_err(|mistake| mistake.locate(text))
    }

    fn compute(keys: &Keys) -> Result<Self, MistakeAt> {
        let Some(title) = &keys.title else {
            return Err(MistakeAt::new(0..0, "`title` is missing"));
        };
        let cases = if keys.cases.is_empty() {
            vec![WorkedCase::compute(keys, 0..0)?]
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

    /// The number of entries whose printed numbers are wrong.
    pub fn errata(&self) -> usize {
        let published = self.cases.iter().flat_map(|case| &case.published);
        published.filter(|published| published.is_erratum()).count()
    }
}

/// Computes the cases of a file with `[[case]]` sections.
fn variants(keys: &Keys) -> Result<Vec<WorkedCase>, MistakeAt> {
    if let Some(published) = keys.published.first() {
        return Err(MistakeAt::new(
            published.span(),
            "in a file with cases, `published` belongs to a case: write [[case.published]] below it",
        ));
    }
    if let Some(case) = keys.cases.get(MOST_CASES) {
        return Err(MistakeAt::new(
            case.span(),
            format!(
                "there are {} cases; at most {MOST_CASES} are allowed",
                keys.cases.len()
            ),
        ));
    }
    let compute = |case: &toml::Spanned<Keys>| {
        let own = case.get_ref();
        if let Some(source) = &own.source {
            return Err(MistakeAt::new(
                source.span(),
                "`source` belongs at the top, not in a case",
            ));
        }
        if let Some(inner) = own.cases.first() {
            return Err(MistakeAt::new(inner.span(), "a case cannot contain cases"));
        }
        let Some(title) = &own.title else {
            return Err(MistakeAt::new(case.span(), "`title` of a case is missing"));
        };
        let title = one_line(title.get_ref());
        let mut worked = WorkedCase::compute(&own.clone().inherit(keys), case.span())?;
        worked.title = Some(title);
        worked.about = own.about.as_ref().map(|text| one_line(text.get_ref()));
        Ok(worked)
    };
    keys.cases.iter().map(compute).collect()
}

impl WorkedCase {
    fn compute(keys: &Keys, span: std::ops::Range<usize>) -> Result<Self, MistakeAt> {
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
            factor: case.scale / case.temperature,
            temperature: case.temperature,
            stages,
            published,
        })
    }
}
