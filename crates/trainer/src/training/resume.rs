//! Resuming a run: the checkpoint that it resumes from, and the settings that may have changed.

use std::fmt;

use headlight_experiment::TrainingState;
use headlight_experiment::config::toml::default_of;
use headlight_experiment::config::{ExperimentConfig, Schedule};
use serde_json::{Value, json};

use crate::files::config;
use crate::files::hash::inputs_sha256;
use crate::files::run_files::{LOSS_LOG, METRICS};
use crate::run::checkpoint::Checkpoint;
use crate::{Failure, RunDir, Session, option, shown};

/// The settings that may change when a run is resumed. More epochs and other checkpoints change no step so
/// far, and a file may have moved, since its contents are compared.
const CHANGEABLE: [&str; 5] = [
    "training.epochs",
    "training.steps",
    "training.start",
    "data.file",
    "checkpoint",
];

/// Refuses settings that would make it a different run.
fn check_config(run: &RunDir, before: &Value, now: &ExperimentConfig) -> Result<(), Failure> {
    let now_named = config::with_file_names(now.clone());
    let mut differences = differences(before, &config::to_json(&now_named)?);
    differences.retain(|(key, ..)| {
        let section = key.split('.').next().unwrap_or_default();
        let is_length = ["training.epochs", "training.steps"].contains(&key.as_str());
        is_length && now.training.schedule != Schedule::Constant
            || !CHANGEABLE.contains(&key.as_str()) && !CHANGEABLE.contains(&section)
    });
    if differences.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = differences
        .into_iter()
        .map(|(key, before, now)| format!("{key} was {before} and would be {now}"))
        .collect();
    Err(Failure::Input(format!(
        "the run in {} cannot be resumed with other settings: {}; you can change only [checkpoint] and the paths data.file and \
         training.start, and, if training.schedule is constant, raise training.epochs and training.steps; start a new run with another {}",
        shown(run.path()),
        list.join(", "),
        option("--run", "run=")
    )))
}

/// Every key under which two configs differ, with both values as JSON; a key that is left out has its default.
pub fn differences(before: &Value, now: &Value) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    find_differences("", before, now, &mut found);
    found
}

fn find_differences(
    key: &str,
    before: &Value,
    now: &Value,
    found: &mut Vec<(String, String, String)>,
) {
    let none = serde_json::Map::new();
    let sections = match (before, now) {
        (Value::Object(before), Value::Object(now)) => Some((before, now)),
        (Value::Object(before), Value::Null) => Some((before, &none)),
        (Value::Null, Value::Object(now)) => Some((&none, now)),
        _ => None,
    };
    if let Some((before, now)) = sections {
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
            find_differences(&inner, &side(before), &side(now), found);
        }
    } else if before != now {
        let shown = |value: &Value| match value {
            Value::Null => default_of(key).unwrap_or_else(|| "not set".to_owned()),
            value => value.to_string(),
        };
        found.push((key.to_owned(), shown(before), shown(now)));
    }
}

/// The checkpoint that a run resumes from; `None` if it must start again.
pub(crate) fn checkpoint_of(
    run: &RunDir,
    session: &Session,
) -> Result<Option<Checkpoint>, Failure> {
    let experiment = &session.experiment;
    let place = shown(run.path());
    let refused = |reason: &dyn fmt::Display| {
        let remedy = run.how_to_repeat();
        Failure::Input(format!(
            "the run in {place} cannot be resumed: {reason}; {remedy}"
        ))
    };
    let found = run.checkpoint();
    let found = found.map_err(|failure| match failure {
        Failure::Input(reason) => refused(&reason),
        other => other,
    })?;
    let Some(checkpoint) = found else {
        let begun = config::with_file_names(run.config()?);
        check_config(run, &config::to_json(&begun)?, &experiment.config)?;
        // The checkpoint comes before the weights; without this check, a finished run would be overwritten.
        if run.has_weights() {
            return Err(refused(&"it has weights but no checkpoint"));
        }
        return Ok(None);
    };
    // The checkpoint has the settings of its steps, even if config.toml was edited since.
    check_config(run, &checkpoint.counters.config, &experiment.config)?;
    if checkpoint.counters.inputs_sha256 != inputs_sha256(experiment) {
        let before = &checkpoint.counters.config["training"]["start"];
        let inputs = if before.is_null() && experiment.config.training.start.is_none() {
            "the samples of [data]"
        } else {
            "the samples of [data], or the parameters of training.start,"
        };
        return Err(Failure::Input(format!(
            "the run in {place} cannot be resumed: {inputs} have changed since the run began; restore them, or start a new run with another {}",
            option("--run", "run=")
        )));
    }
    let step = checkpoint.counters.progress.step;
    if step > experiment.steps() {
        let training = &experiment.config.training;
        let given = [("epochs", training.epochs), ("steps", training.steps)].into_iter();
        let given = given.filter_map(|(key, value)| Some(format!("training.{key} = {}", value?)));
        let given = given.collect::<Vec<_>>().join(" and ");
        return Err(Failure::Input(format!(
            "the run in {place} is already at step {step}, beyond the {} steps of {given}; set a larger value",
            experiment.steps(),
        )));
    }
    check_checkpoint(run, session, &checkpoint).map_err(|reason| refused(&reason))?;
    Ok(Some(checkpoint))
}

/// Whether a run still has the epochs and steps of its checkpoint. If it has more, its files change even if its patience has run
/// out.
pub(crate) fn has_same_length(session: &Session, checkpoint: &Checkpoint) -> bool {
    let training = &session.experiment.config.training;
    let before = &checkpoint.counters.config["training"];
    let is_same = |key: &str, now: Option<usize>| before[key] == json!(now);
    is_same("epochs", training.epochs) && is_same("steps", training.steps)
}

/// Checks that a checkpoint is of this model, and that the logs of the run reach to it.
fn check_checkpoint(
    run: &RunDir,
    session: &Session,
    checkpoint: &Checkpoint,
) -> Result<(), Failure> {
    let refused = |reason: &str| Err(Failure::Input(reason.to_owned()));
    let experiment = &session.experiment;
    let Checkpoint {
        counters,
        state,
        best,
    } = checkpoint;
    let progress = counters.progress;
    let per_epoch = experiment.steps_per_epoch();
    let is_consistent = progress.step > 0
        && state.steps as usize == progress.step
        && progress.epoch == progress.step / per_epoch
        && progress.at_epoch_end == progress.step.is_multiple_of(per_epoch);
    if !is_consistent {
        return refused("the counters of its checkpoint contradict each other");
    }
    state.check(&experiment.start)?;
    if let Some(best) = best {
        TrainingState::of(best.parameters.clone()).check(&experiment.start)?;
    }
    if let Some(name) = state.not_finite() {
        let reason = format!("{name} of its checkpoint holds NaN or infinite numbers");
        return refused(&reason);
    }
    let logs = [
        (run.file(METRICS), counters.metrics_bytes),
        (run.file(LOSS_LOG), 4 * progress.step as u64),
    ];
    for (path, bytes) in logs {
        if path.metadata().map_or(0, |found| found.len()) < bytes {
            return refused(&format!("{} was cut short", shown(&path)));
        }
    }
    Ok(())
}
