//! The samples in which some positions decide the label, by the config's rule.

use super::subject::Subject;
use crate::config::ExperimentConfig;

/// A rule says which positions decide.
pub(super) fn check(config: &ExperimentConfig) -> Result<(), String> {
    match config.data.rule {
        Some(_) => Ok(()),
        None => Err(
            "needs to know which positions decide a sample's label, and the config has no data.rule that says it"
                .to_owned(),
        ),
    }
}

impl Subject<'_> {
    /// The samples in which some position decides.
    pub(super) fn decided(&self) -> Vec<(u32, Vec<usize>)> {
        let samples = 0..self.samples.len() as u32;
        let deciding = samples.map(|sample| (sample, self.deciding(sample)));
        deciding
            .filter(|(_, deciding)| !deciding.is_empty())
            .collect()
    }
}
