//! Whether a run has learned its task, as its report says.

use serde::Serialize;

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
            ("Learned: ", Some(true)),
            ("Not learned: ", Some(false)),
            ("Nothing to learn: ", None),
        ];
        let found = report.lines().find_map(|line| {
            let mut beginnings = beginnings.iter();
            let &(_, learned) = beginnings.find(|(beginning, _)| line.starts_with(beginning))?;
            Some((learned, line))
        });
        Self {
            learned: found.and_then(|(learned, _)| learned),
            outcome: found.map(|(_, line)| line),
        }
    }
}
