//! Whether a run has learned its task, as its report says.

use serde::Serialize;

// How the report's line begins, before a colon.
pub(crate) const HAS_LEARNED: &str = "Learned";
pub(crate) const NOT_LEARNED: &str = "Not learned";
pub(crate) const NOTHING_TO_LEARN: &str = "Nothing to learn";

/// The outcome that a report states.
#[derive(Debug, Serialize)]
pub struct Verdict<'a> {
    /// Whether the model has learned the task; `None` if there is nothing to learn.
    pub learned: Option<bool>,
    /// The report's sentences about it.
    pub outcome: Option<&'a str>,
}

impl<'a> Verdict<'a> {
    /// Finds the outcome in a report: the line that begins with it.
    pub fn of(report: &'a str) -> Self {
        let beginnings = [
            (HAS_LEARNED, Some(true)),
            (NOT_LEARNED, Some(false)),
            (NOTHING_TO_LEARN, None),
        ];
        let found = report.lines().find_map(|line| {
            let (beginning, _) = line.split_once(':')?;
            let (_, learned) = beginnings.iter().find(|(known, _)| *known == beginning)?;
            Some((*learned, line))
        });
        Self {
            learned: found.and_then(|(learned, _)| learned),
            outcome: found.map(|(_, line)| line),
        }
    }
}
