//! Resuming a run: the checkpoint that it resumes from, and the settings that may have changed.

use headlight_experiment::Experiment;
use headlight_experiment::best::BestTracker;
use headlight_experiment::config::toml::default_of;
use headlight_experiment::config::{ExperimentConfig, Schedule};
use serde::Deserialize;
use serde_json::Value;

use crate::Failure;
use crate::sessions::inputs::inputs_sha256;
use crate::sessions::session::Session;
use crate::storage::checkpoint::{CHECKPOINT_LIMIT, Checkpoint};
use crate::storage::run_dir::RunDir;
use crate::storage::weights::{FREE_LIMIT, HEADER_LIMIT};

/// The settings that may change when a run is resumed. More epochs and other checkpoints change no step so
/// far, and a file may have moved, since its contents are compared.
const CHANGEABLE: [&str; 4] = [
    "training.epochs",
    "training.steps",
    "data.file",
    "checkpoint",
];

/// Refuses settings that would make it a different run.
///
/// # Errors
/// When there are such settings; the message lists each key with both values.
fn check_config(run: &RunDir, before: &Value, now: &ExperimentConfig) -> Result<(), Failure> {
    let mut differences = Vec::new();
    find_differences("", before, &json(now)?, &mut differences);
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
        "the run in {} cannot be resumed with other settings: {}; only changes to [checkpoint] and, without a \
         training.schedule, larger training.epochs and training.steps are allowed; start a new run with another --run",
        run.path().display(),
        list.join(", ")
    )))
}

/// A config as JSON, as checkpoints hold it.
pub(crate) fn json(config: &ExperimentConfig) -> Result<Value, Failure> {
    serde_json::to_value(config)
        .map_err(|error| Failure::System(format!("the config cannot be compared: {error}")))
}

/// A checkpoint's config with the default of each key that it lacks, because an older Headlight wrote it. A
/// config that this Headlight cannot read stays as it is, so that the differences name its keys.
fn with_defaults(config: &Value) -> Result<Value, Failure> {
    match ExperimentConfig::deserialize(config) {
        Ok(config) => json(&config),
        Err(_) => Ok(config.clone()),
    }
}

/// Adds to `found` every key under which two values differ, with both values as JSON; a key that is left out has its default.
pub fn find_differences(
    key: &str,
    before: &Value,
    now: &Value,
    found: &mut Vec<(String, String, String)>,
) {
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
///
/// # Errors
/// When its checkpoints are damaged, or its settings, samples or initial weights have changed.
pub(crate) fn latest_checkpoint(
    run: &RunDir,
    session: &Session,
) -> Result<Option<Checkpoint>, Failure> {
    let experiment = &session.experiment;
    // The checkpoint has the settings of its steps, even if config.toml was edited since.
    let check_settings = |checkpoint: &Checkpoint| {
        check_config(run, &with_defaults(&checkpoint.config)?, &experiment.config)
    };
    let inputs = inputs_sha256(experiment);
    let found = run.checkpoints().newest(limit(experiment), |checkpoint| {
        match check_settings(checkpoint) {
            Ok(()) if checkpoint.inputs_sha256 == inputs => {
                check_checkpoint(run, session, checkpoint)
            }
            // Reported below: with other settings or samples, a whole checkpoint need not match this session.
            _ => Ok(()),
        }
    })?;
    match &found {
        Some(checkpoint) => check_settings(checkpoint)?,
        None => check_config(run, &json(&run.config()?)?, &experiment.config)?,
    }
    let Some(checkpoint) = found else {
        // Checkpoints come before weights; without this check, a finished run would be overwritten.
        if run.has_weights()? {
            return Err(Failure::Input(format!(
                "the run in {} has weights but no checkpoint to resume from; start a new run with another --run",
                run.path().display()
            )));
        }
        return Ok(None);
    };
    if checkpoint.inputs_sha256 != inputs {
        return Err(Failure::Input(format!(
            "the run in {} cannot be resumed: the samples of [data] have changed \
             since the run began; restore them, or start a new run with another --run",
            run.path().display()
        )));
    }
    let step = checkpoint.progress.step;
    if step > experiment.steps() {
        let training = &experiment.config.training;
        let given = [("epochs", training.epochs), ("steps", training.steps)].into_iter();
        let given = given.filter_map(|(key, value)| Some(format!("training.{key} = {}", value?)));
        return Err(Failure::Input(format!(
            "the run in {} is already at step {step}, more than the {} steps of {}; raise what limits them",
            run.path().display(),
            experiment.steps(),
            given.collect::<Vec<_>>().join(" and ")
        )));
    }
    Ok(Some(checkpoint))
}

/// Whether no step is left to train after a checkpoint, and the run has the epochs that it was begun with. If it has more,
/// its files change even if its patience has run out.
pub(crate) fn is_trained(session: &Session, checkpoint: &Checkpoint) -> bool {
    let experiment = &session.experiment;
    let training = &experiment.config.training;
    let stopped = BestTracker::new(training).is_some_and(|mut tracker| {
        tracker.best.clone_from(&checkpoint.best);
        tracker.is_out_of_patience()
    });
    (stopped || checkpoint.progress.step == experiment.steps())
        && checkpoint.config["training"]["epochs"] == serde_json::json!(training.epochs)
        && checkpoint.config["training"]
            .get("steps")
            .unwrap_or(&Value::Null)
            == &serde_json::json!(training.steps)
}

/// More than the bytes before the header of a checkpoint.
const SEAL: u64 = 1 << 12;

/// The largest checkpoint that is read, in bytes: four times the model (its weights, Adam's two moments, and
/// the best model), and at least [`FREE_LIMIT`].
pub(crate) fn limit(experiment: &Experiment) -> u64 {
    let start = experiment.start.iter();
    let counts = start.map(|parameter| parameter.values.len() as u64);
    let model = counts.sum::<u64>() * 4 * 4 + HEADER_LIMIT + SEAL;
    model.clamp(FREE_LIMIT, CHECKPOINT_LIMIT)
}

/// Checks that a whole checkpoint belongs to this run, and that the run's metrics and losses until then are
/// unchanged.
fn check_checkpoint(
    run: &RunDir,
    session: &Session,
    checkpoint: &Checkpoint,
) -> Result<(), Failure> {
    let refused = |reason: String| Err(Failure::Input(reason));
    let experiment = &session.experiment;
    let Checkpoint {
        progress, state, ..
    } = checkpoint;
    let per_epoch = experiment.steps_per_epoch();
    let is_consistent = progress.step > 0
        && state.steps as usize == progress.step
        && progress.epoch == progress.step / per_epoch
        && progress.at_epoch_end == progress.step.is_multiple_of(per_epoch)
        && checkpoint.losses.bytes == 4 * progress.step as u64;
    if !is_consistent {
        return refused("its counters contradict each other".to_owned());
    }
    state.check(&experiment.start)?;
    let best = checkpoint.best.iter().flat_map(|best| &best.parameters);
    let shapes = best.map(|parameter| (&parameter.name, &parameter.shape));
    let start = experiment.start.iter();
    if checkpoint.best.is_some()
        && !shapes.eq(start.map(|parameter| (&parameter.name, &parameter.shape)))
    {
        return refused("its best model is a different model".to_owned());
    }
    if let Some(name) = state.not_finite() {
        return refused(format!("{name} holds NaN or infinite numbers"));
    }
    for (path, mark) in [
        (run.metrics_path(), &checkpoint.metrics),
        (run.loss_log_path(), &checkpoint.losses),
    ] {
        mark.check(&path)?;
    }
    Ok(())
}
