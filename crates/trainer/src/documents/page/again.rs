//! Whether a page can train its run again.

use std::sync::Arc;

use headlight_data::Source;
use headlight_dump::AttentionDump;
use headlight_experiment::Experiment;
use headlight_inspector::{Again, OwnData};
use serde_json::Value;

use super::samples::{Carried, carried};
use crate::Failure;
use crate::sessions::inputs::inputs_sha256;
use crate::sessions::resume::CHECKPOINT_LIMIT;
use crate::sessions::test_sets::with_tests;
use crate::storage::hash::file_sha256;
use crate::storage::run_dir::RunDir;

/// Whether the page can train a run again: the fused engine on a CPU trained it, and its samples follow from its config or
/// fit into the page.
pub(super) fn again(run: &RunDir, last: &AttentionDump) -> Result<Again, Failure> {
    let config = &last.meta.config;
    let recorded = |reason: &str| Ok(Again::Recorded(reason.to_owned()));
    if config["compute"]["engine"] != "fused" {
        return recorded("The page has only the fused engine, and another engine trained this run");
    }
    if let Some(key) = inexact_seed(config) {
        return Ok(Again::Recorded(format!(
            "`{key}` is above {EXACT}, and scripts of pages have no larger whole numbers"
        )));
    }
    let metrics = run.last_metrics()?;
    let steps = metrics.and_then(|row| row["step"].as_u64());
    let (Some(steps), true) = (steps, run.has_weights()) else {
        return recorded("The run has no weights yet");
    };
    let is_from_file = !config["data"]["file"].is_null();
    let data = match is_from_file.then(|| samples(run)).transpose()?.transpose() {
        Ok(data) => data,
        Err(reason) => return Ok(Again::Recorded(reason)),
    };
    Ok(Again::Live {
        config: config.clone(),
        steps: usize::try_from(steps).unwrap_or(usize::MAX),
        weights_sha256: file_sha256(&run.weights_path())?,
        data,
    })
}

/// The largest number below which a script has every whole number.
pub(super) const EXACT: u64 = 1 << 53;

/// The seed of a config that a page would train with another seed in its place.
pub(super) fn inexact_seed(config: &Value) -> Option<&'static str> {
    let seeds = [
        ("seed", &config["seed"]),
        ("data.seed", &config["data"]["seed"]),
    ];
    let is_inexact = |seed: &Value| seed.as_u64().is_some_and(|seed| seed > EXACT);
    let mut inexact = seeds.into_iter().filter(|(_, seed)| is_inexact(seed));
    inexact.next().map(|(key, _)| key)
}

/// The samples of a run, from the file that its config names. A run directory has no copy of the file, so its
/// checkpoint tells whether the file still holds what the run was trained on. Otherwise the reason, as a sentence without
/// its full stop; what the file holds is none of it, since somebody else may have written the config.
///
/// # Errors
/// When the machine cannot read a file.
fn samples(run: &RunDir) -> Result<Result<OwnData, String>, Failure> {
    let not = |reason: String| Ok(Err(reason));
    let unreadable = || not("The file with the samples of this run cannot be read".to_owned());
    let config = run.config()?;
    let Source::File(path) = &config.data.source else {
        return not("The config of this run has changed since training".to_owned());
    };
    let (data, splits) = match carried(&config, path) {
        Ok(Carried::Whole(data, splits)) => (data, *splits),
        Ok(Carried::Nothing(why)) => return not(format!("The samples of this run {why}")),
        Err(_) => return unreadable(),
    };
    let Ok(Some(checkpoint)) = run.checkpoint(CHECKPOINT_LIMIT) else {
        return not("The samples of this run come from a file, and without a checkpoint nothing tells whether they are still the same".to_owned());
    };
    let experiment = with_tests(&config, splits)
        .and_then(|splits| Ok(Experiment::new(config, Arc::new(splits), None)?));
    let Ok(experiment) = experiment else {
        return unreadable();
    };
    if inputs_sha256(&experiment) != checkpoint.counters.inputs_sha256 {
        return not("The file with the samples of this run has changed since training".to_owned());
    }
    Ok(Ok(data))
}
