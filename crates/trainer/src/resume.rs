//! Going on with a run: what may differ from how it began, and from which moment it goes on.

use std::io::Read;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::Failure;
use crate::best::Watch;
use crate::checkpoint::{Checkpoint, inputs_sha256};
use crate::config::ExperimentConfig;
use crate::experiment::Experiment;
use crate::hash::hex;
use crate::run_dir::RunDir;
use crate::weights::{FREE_LIMIT, HEADER_LIMIT};

/// What may be another when a run goes on. All steps so far are the same with more epochs; checkpoints
/// change no step; and files may have moved, since what is in them is compared.
const MAY_DIFFER: [&str; 4] = ["training.epochs", "data.file", "reference", "checkpoint"];

/// Refuses settings that would make another run of it.
///
/// # Errors
/// Lists each key that differs, with both values.
fn check_config(run: &RunDir, before: &Value, now: &ExperimentConfig) -> Result<(), Failure> {
    let mut differences = Vec::new();
    differ("", before, &json(now)?, &mut differences);
    differences.retain(|(key, ..)| {
        let section = key.split('.').next().unwrap_or_default();
        !MAY_DIFFER.contains(&key.as_str()) && !MAY_DIFFER.contains(&section)
    });
    if differences.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = differences
        .into_iter()
        .map(|(key, before, now)| format!("{key} was {before} and would be {now}"))
        .collect();
    Err(Failure::Input(format!(
        "the run in {} cannot go on with other settings: {}; more training.epochs and other [checkpoint] settings \
         are all that it can be given; train anew with another --run",
        run.path().display(),
        list.join(", ")
    )))
}

/// A config as it stands in checkpoints.
pub(crate) fn json(config: &ExperimentConfig) -> Result<Value, Failure> {
    serde_json::to_value(config)
        .map_err(|error| Failure::System(format!("the config cannot be compared: {error}")))
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
/// When its checkpoints are damaged, or it has other settings, samples or weights to begin with than
/// before.
pub(crate) fn newest(run: &RunDir, experiment: &Experiment) -> Result<Option<Checkpoint>, Failure> {
    let found = run.checkpoints().newest(limit(experiment), |checkpoint| {
        usable(run, experiment, checkpoint)
    })?;
    // What the checkpoint's steps were taken with, whatever has been done to config.toml since.
    let before = match &found {
        Some(checkpoint) => checkpoint.config.clone(),
        None => json(&run.config()?)?,
    };
    check_config(run, &before, &experiment.config)?;
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

/// Whether nothing is left of a run but to look at it.
pub(crate) fn is_over(
    run: &RunDir,
    experiment: &Experiment,
    checkpoint: Option<&Checkpoint>,
) -> bool {
    let Some(checkpoint) = checkpoint else {
        return false;
    };
    let stopped = Watch::new(&experiment.config.training).is_some_and(|mut watch| {
        watch.best.clone_from(&checkpoint.best);
        watch.has_waited_enough()
    });
    run.has_ended() && (stopped || checkpoint.progress.step == experiment.steps())
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
    let of_epoch = experiment.steps_per_epoch();
    let losses = match experiment.reference {
        Some(_) => progress.step,
        None => 0,
    };
    let right = progress.step > 0
        && state.steps as usize == progress.step
        && progress.epoch == progress.step / of_epoch
        && progress.at_epoch_end == progress.step.is_multiple_of(of_epoch)
        && checkpoint.losses.len() == losses;
    if !right {
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
    let count: usize = experiment.start.iter().map(|own| own.values.len()).sum();
    if (state.first.len(), state.second.len()) != (count, count) {
        return Err("its moments are of another model".to_owned());
    }
    let weights = state.parameters.iter().flat_map(|own| &own.values);
    if !(weights.chain(&state.first).chain(&state.second)).all(|value| value.is_finite()) {
        return Err("it holds numbers that are not finite".to_owned());
    }
    let path = run.metrics_path();
    let mut hash = Sha256::new();
    let read = headlight_input::open(&path, u64::MAX).and_then(|file| {
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
