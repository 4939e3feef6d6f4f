//! Whether a page can train its run again, and what came of the run.

use headlight_data::Source;
use headlight_dump::AttentionDump;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::outcome::Outcome;
use headlight_page::{OwnData, PageTraining};
use serde_json::Value;

use super::samples::embedded_samples;
use crate::files::hash::file_sha256;
use crate::files::run_files::WEIGHTS;
use crate::session::test_sets::unchanged_samples;
use crate::{Failure, RunDir};

/// Whether the page can train a run again: the fused engine on a CPU trained it, and its samples follow from its config or
/// fit into the page.
pub(super) fn retraining(run: &RunDir, last: &AttentionDump) -> Result<PageTraining, Failure> {
    let config = &last.meta.config;
    let recorded = |reason: &str| Ok(PageTraining::Recorded(reason.to_owned()));
    if config["compute"]["engine"] != "fused" {
        return recorded("The page has only the fused engine, and another engine trained this run");
    }
    if !config["training"]["start"].is_null() {
        return recorded(
            "The training started from given parameters, which the page does not hold",
        );
    }
    if let Some(key) = inexact_seed(config) {
        return Ok(PageTraining::Recorded(format!(
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
        Err(reason) => return Ok(PageTraining::Recorded(reason)),
    };
    Ok(PageTraining::Live {
        config: config.clone(),
        steps: usize::try_from(steps).unwrap_or(usize::MAX),
        weights_sha256: file_sha256(&run.file(WEIGHTS))?,
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
    let inexact = seeds.into_iter().find(|(_, seed)| is_inexact(seed));
    inexact.map(|(key, _)| key)
}

/// The samples of a run, from the file that its config names. Otherwise the reason, as a sentence without its full stop; what the
/// file holds is none of it, since somebody else may have written the config.
fn samples(run: &RunDir) -> Result<Result<OwnData, String>, Failure> {
    let not = |reason: &str| Ok(Err(reason.to_owned()));
    let config = run.config()?;
    let Source::File(path) = &config.data.source else {
        return not("The config of this run has changed since training");
    };
    let data = match embedded_samples(&config, path) {
        Ok(Ok(data)) => data,
        Ok(Err(why)) => return Ok(Err(format!("The samples of this run {why}"))),
        Err(_) => return not("The file with the samples of this run cannot be read"),
    };
    let Ok(Some(checkpoint)) = run.checkpoint() else {
        return not(
            "The samples of this run come from a file, and without a checkpoint nothing tells whether they are still the same",
        );
    };
    match unchanged_samples(&config, &checkpoint) {
        Ok(Some(_)) => Ok(Ok(data)),
        _ => not("The file with the samples of this run has changed since training"),
    }
}

/// What came of a run that was trained earlier, for the model that is used, and which samples are also training samples. `None`
/// without weights, or without its samples.
pub(super) fn outcome(
    run: &RunDir,
    config: &ExperimentConfig,
) -> Option<(Outcome, Vec<(String, usize)>)> {
    let checkpoint = run.checkpoint().ok()?.filter(|_| run.has_weights())?;
    let splits = unchanged_samples(config, &checkpoint).ok()??;
    let best = checkpoint.best.map(|best| best.step);
    let outcome = Outcome::of(config, &splits, &run.step_metrics().ok()?, best)?;
    Some((outcome, splits.repetitions(&config.data, &config.tests)))
}
