//! How many dumps and weights files a run will write, and how large they are: dumps are reduced unless the config chooses
//! them; both are announced before training, and refused above a limit.

use std::fmt;

use headlight_experiment::config::{DumpFormat, ExperimentConfig};
use headlight_experiment::train::{Progress, evaluation_is_due};
use headlight_experiment::{Experiment, fused};
use headlight_report::counted;

use crate::session::dumping::is_masked;
use crate::training::run_writer::dump_is_due;
use crate::{Failure, RunDir, note, option};

/// The most bytes of dumps that a run writes by default.
const DEFAULT_BYTES: f64 = 20e6;

/// The part of them that an estimate may reach: numbers that compress badly take a seventh more than estimated.
const ESTIMATED: f64 = 0.85 * DEFAULT_BYTES;

/// Above these numbers of files or bytes, a run prints a note.
const NOTED_FILES: usize = 1000;
const NOTED_BYTES: f64 = (100 << 20) as f64;

/// The most bytes of dumps and weights that a run writes without `--force`.
const MOST_BYTES: f64 = (1 << 30) as f64;

/// Measured bytes: per byte of an array in npz, per number in JSON, per row in CSV, and of the rest of a dump. The
/// configs were `quick`, `notebook`, and one with two layers of four heads over 40 tokens.
const NPZ_BYTE: f64 = 0.83;
const JSON_NUMBER: f64 = 12.0;
const CSV_ROW: f64 = 41.0;
const REST: f64 = 3000.0;

/// Reduces the dumps of a run if they would exceed about 20 MB and the config does not choose their steps, and says so. Then only
/// the first and the last model are dumped, and the best model if the run keeps it. If that is still too much and the config does
/// not choose how many positives and negatives, only the first samples are dumped. A run that was `begun` keeps what it has.
pub(crate) fn reduce_dumps(
    experiment: &mut Experiment,
    begun: Option<&RunDir>,
) -> Result<(), Failure> {
    let dump = &mut experiment.config.dump;
    if dump.every_epochs.is_given || dump.every_steps > 0 {
        return Ok(());
    }
    if let Some(begun) = begun.and_then(|run| run.config().ok()) {
        dump.every_epochs.adapt(begun.dump.every_epochs.value);
        dump.positives.adapt(begun.dump.positives.value);
        dump.negatives.adapt(begun.dump.negatives.value);
        // The run has these, and may have more.
        if begun.dump.samples.starts_with(&dump.samples) {
            dump.samples = begun.dump.samples;
        }
        return Ok(());
    }
    let all = volume(experiment)?;
    if all.bytes <= ESTIMATED {
        return Ok(());
    }
    experiment.config.dump.every_epochs.adapt(0);
    let ends = volume(experiment)?;
    let dump = &mut experiment.config.dump;
    if ends.bytes > ESTIMATED && !dump.positives.is_given && !dump.negatives.is_given {
        let fitting = ends.samples as f64 * ESTIMATED / ends.bytes;
        let mut samples = dump.samples.clone();
        samples.extend(dump.chosen(experiment.splits.displayed_samples()));
        samples.truncate((fitting as usize).max(1));
        dump.samples = samples;
        dump.positives.adapt(0);
        dump.negatives.adapt(0);
    }
    let fewer = volume(experiment)?;
    if fewer.bytes < all.bytes {
        let kept = match experiment.config.training.keep_best {
            Some(_) => "first, last and best model",
            None => "first and last model",
        };
        note(&format!(
            "dumps reduced from {all} to {fewer}, keeping only those of the {kept}; set [dump] to change this"
        ));
    }
    Ok(())
}

/// The dumps of a run.
struct Volume {
    dumps: usize,
    samples: usize,
    bytes: f64,
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.0} MB ({} of {})",
            self.bytes / 1e6,
            counted(self.dumps, "dump"),
            counted(self.samples, "sample")
        )
    }
}

fn volume(experiment: &Experiment) -> Result<Volume, Failure> {
    let config = &experiment.config;
    let is_due = |&step: &usize| dump_is_due(experiment, step);
    let best = usize::from(config.training.keep_best.is_some());
    let dumps = (0..=experiment.steps()).filter(is_due).count() + best;
    let samples = config
        .dump
        .chosen(experiment.splits.displayed_samples())
        .len();
    Ok(Volume {
        dumps,
        samples,
        bytes: dumps as f64 * dump_bytes(config, samples)?,
    })
}

/// How many files of weights training saves with `training.save_weights`, unless it stops early, and their bytes.
pub fn saved_weights(experiment: &Experiment) -> (usize, f64) {
    if !experiment.config.training.save_weights {
        return (0, 0.0);
    }
    let per_epoch = experiment.steps_per_epoch();
    let is_due = |&step: &usize| {
        let progress = Progress {
            step,
            at_epoch_end: step.is_multiple_of(per_epoch),
            ..Progress::default()
        };
        evaluation_is_due(experiment, progress)
    };
    let files = (0..=experiment.steps()).filter(is_due).count();
    let parameters = experiment.start.iter().map(|one| one.values.len());
    (files, files as f64 * 4.0 * parameters.sum::<usize>() as f64)
}

/// Notes how many dumps and weights files a run will write, if they are many or large, and refuses more than is accepted.
pub(crate) fn check_volume(
    experiment: &Experiment,
    begun: Option<&RunDir>,
    accepted: bool,
) -> Result<(), Failure> {
    let volume = volume(experiment)?;
    let (saved, of_weights) = saved_weights(experiment);
    let bytes = volume.bytes + of_weights;
    let (mut all, mut fewer) = (volume.to_string(), "");
    if saved > 0 {
        let count = counted(saved, "file");
        all = format!("{all} and {:.0} MB of weights ({count})", of_weights / 1e6);
        fewer = "evaluate at fewer steps, ";
    }
    let per_epoch = experiment.steps_per_epoch();
    let was_accepted = begun
        .and_then(|run| run.config().ok())
        .is_some_and(|begun| begun.training.total_steps(per_epoch) >= experiment.steps());
    if bytes > MOST_BYTES && !accepted && !was_accepted {
        return Err(Failure::Input(format!(
            "training would write {all}; to write less, {fewer}raise dump.every_steps or dump.every_epochs (0 disables \
             them), or lower dump.positives, dump.negatives, dump.samples or the number of dump.formats; to write \
             them all, train with {}",
            option("--force", "force=True")
        )));
    }
    if volume.dumps + saved > NOTED_FILES || bytes > NOTED_BYTES {
        note(&format!(
            "training will write {all}; to change that, {fewer}edit [dump] in the config"
        ));
    }
    Ok(())
}

/// The bytes of one dump, in all formats.
fn dump_bytes(config: &ExperimentConfig, samples: usize) -> Result<f64, Failure> {
    let dims = fused::dims(config, samples)?;
    let (numbers, bytes) = headlight_dump::size(dims, is_masked(config));
    let pairs = dims.positions as f64 * dims.positions as f64;
    let rows = samples as f64 * dims.layers as f64 * dims.heads as f64 * pairs;
    let formats = config.dump.formats.iter().map(|format| match format {
        DumpFormat::Npz => bytes * NPZ_BYTE + REST,
        DumpFormat::Json => numbers * JSON_NUMBER + REST,
        DumpFormat::Csv => rows * CSV_ROW,
    });
    Ok(formats.sum())
}
