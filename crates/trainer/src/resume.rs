//! Going on with a run: what may differ from how it began, and from which moment it goes on.

use std::fs::File;
use std::io::Read;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::Failure;
use crate::checkpoint::{Checkpoint, inputs_sha256};
use crate::config::ExperimentConfig;
use crate::experiment::Experiment;
use crate::hash::hex;
use crate::run_dir::RunDir;
use crate::weights::{FREE_LIMIT, HEADER_LIMIT};

/// The one setting that may be another when a run goes on: all steps so far are the same with it.
const MAY_DIFFER: &str = "training.epochs";

/// Refuses settings that would make another run of it.
///
/// # Errors
/// Lists each key that differs, with both values.
pub(crate) fn check_config(
    run: &RunDir,
    before: &ExperimentConfig,
    now: &ExperimentConfig,
) -> Result<(), Failure> {
    let json = |config: &ExperimentConfig| {
        serde_json::to_value(config)
            .map_err(|error| Failure::System(format!("the config cannot be compared: {error}")))
    };
    let mut differences = Vec::new();
    differ("", &json(before)?, &json(now)?, &mut differences);
    differences.retain(|(key, ..)| key != MAY_DIFFER);
    if differences.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = differences
        .into_iter()
        .map(|(key, before, now)| format!("{key} was {before} and would be {now}"))
        .collect();
    Err(Failure::Input(format!(
        "the run in {} cannot go on with other settings: {}; only {MAY_DIFFER} may differ: \
         leave CONFIG and the rest out to take them from the run, or train anew with another --run",
        run.path().display(),
        list.join(", ")
    )))
}

/// Every key under which two values differ, with both of them as JSON.
fn differ(key: &str, before: &Value, now: &Value, found: &mut Vec<(String, String, String)>) {
    if let (Value::Object(before), Value::Object(now)) = (before, now) {
        let mut names: Vec<&String> = before.keys().chain(now.keys()).collect();
        names.sort();
        names.dedup();
        for name in names {
            let inner = if key.is_empty() {
                name.clone()
            } else {
                format!("{key}.{name}")
            };
            let side = |map: &serde_json::Map<String, Value>| {
                map.get(name).cloned().unwrap_or(Value::Null)
            };
            differ(&inner, &side(before), &side(now), found);
        }
    } else if before != now {
        let shown = |value: &Value| match value {
            Value::Null => "not set".to_owned(),
            value => value.to_string(),
        };
        found.push((key.to_owned(), shown(before), shown(now)));
    }
}

/// The moment that a run goes on from; `None` where it must begin again.
///
/// # Errors
/// When its checkpoints are damaged, or it has other samples or weights to begin with than before.
pub(crate) fn newest(run: &RunDir, experiment: &Experiment) -> Result<Option<Checkpoint>, Failure> {
    let found = run.checkpoints().newest(limit(experiment), |checkpoint| {
        usable(run, experiment, checkpoint)
    })?;
    let Some(checkpoint) = found else {
        // Checkpoints come before weights; without this, a finished run would be taken to pieces.
        if run.has_weights() {
            return Err(Failure::Input(format!(
                "the run in {} has weights but no checkpoint to go on from; train anew with another --run",
                run.path().display()
            )));
        }
        return Ok(None);
    };
    if checkpoint.inputs_sha256 != inputs_sha256(experiment) {
        return Err(Failure::Input(format!(
            "the run in {} cannot go on: the samples of [data], or the recorded run's weights, are no longer those that it began with",
            run.path().display()
        )));
    }
    let step = checkpoint.progress.step;
    if step > experiment.steps() {
        return Err(Failure::Input(format!(
            "the run in {} is at step {step} already, beyond the {} of training.epochs = {}",
            run.path().display(),
            experiment.steps(),
            experiment.config.training.epochs
        )));
    }
    Ok(Some(checkpoint))
}

/// The most bytes that a checkpoint of an experiment may have: the model four times (as it is, Adam's two
/// moments of it, and as it was best), or what small ones may have with all else.
fn limit(experiment: &Experiment) -> u64 {
    let counts = experiment.start.iter().map(|own| own.values.len() as u64);
    FREE_LIMIT.max(counts.sum::<u64>() * 4 * 4 + HEADER_LIMIT)
}

/// Whether a checkpoint that is whole is one of this run, and the run's metrics are still there.
fn usable(run: &RunDir, experiment: &Experiment, checkpoint: &Checkpoint) -> Result<(), String> {
    let Checkpoint {
        progress, state, ..
    } = checkpoint;
    if progress.step == 0 || state.steps as usize != progress.step {
        return Err("its counters contradict each other".to_owned());
    }
    let names = |parameters: &[headlight_model::Parameter]| -> Vec<(String, Vec<usize>)> {
        let each = parameters.iter();
        each.map(|own| (own.name.clone(), own.shape.clone()))
            .collect()
    };
    let own = names(&experiment.start);
    let best = checkpoint.best.as_ref();
    if names(&state.parameters) != own || best.is_some_and(|best| names(&best.parameters) != own) {
        return Err("its weights are of another model".to_owned());
    }
    let path = run.metrics_path();
    let mut hash = Sha256::new();
    let read = File::open(&path).and_then(|file| {
        let mut part = file.take(checkpoint.metrics.bytes);
        std::io::copy(&mut part, &mut hash)
    });
    match read {
        Ok(bytes)
            if bytes == checkpoint.metrics.bytes
                && hex(&hash.finalize()) == checkpoint.metrics.sha256 =>
        {
            Ok(())
        }
        Ok(_) => Err(format!(
            "{} is no longer what was written until then",
            path.display()
        )),
        Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named_with_both_values() {
        let before = serde_json::json!({"a": 1, "b": {"c": "x", "d": [1]}, "gone": true});
        let now = serde_json::json!({"a": 1, "b": {"c": "y", "d": [1]}, "new": 2});
        let mut found = Vec::new();
        differ("", &before, &now, &mut found);
        let text: Vec<String> = found
            .into_iter()
            .map(|(key, before, now)| format!("{key}: {before}, {now}"))
            .collect();
        assert_eq!(
            text,
            [
                "b.c: \"x\", \"y\"",
                "gone: true, not set",
                "new: not set, 2"
            ]
        );
    }
}
