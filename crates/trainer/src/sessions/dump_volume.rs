//! How many dumps a run will write, and how large they are: adapted unless the config chooses them, printed before
//! training, and refused above a limit.

use headlight_data::IGNORED;
use headlight_experiment::config::{DumpConfig, DumpFormat};
use headlight_experiment::{Experiment, fused};
use headlight_inspector::counted;

use crate::Failure;
use crate::notes::note;
use crate::sessions::dumping::is_masked;
use crate::storage::run_dir::RunDir;

/// The most bytes of dumps that a run writes by default.
const DEFAULT_BYTES: f64 = 20e6;

/// The part of them that an estimate may reach: numbers that compress badly take a seventh more than estimated.
const ESTIMATED: f64 = 0.85 * DEFAULT_BYTES;

/// A run that will write more dumps than this, or more bytes of them, says so.
const NOTED_DUMPS: u64 = 1000;
const NOTED_BYTES: f64 = (100 << 20) as f64;

/// The most bytes of dumps that a run writes without `--force`.
const MOST_BYTES: f64 = (1 << 30) as f64;

/// Measured bytes: per byte of an array in npz, per number in JSON, per row in CSV, and of the rest of a dump. The
/// configs were `quick`, `notebook`, and one with two blocks of four heads over 40 tokens.
const NPZ_BYTE: f64 = 0.83;
const JSON_NUMBER: f64 = 12.0;
const CSV_ROW: f64 = 41.0;
const REST: f64 = 3000.0;

/// Adapts what `[dump]` leaves to its defaults, so that all dumps of the run stay below 20 MB, and prints it: fewer
/// samples of each class, then dumps after fewer epochs, then samples of fewer classes. A run that was `begun` keeps
/// what it has.
///
/// # Errors
/// When the model does not suit the samples.
pub fn adapt(experiment: &mut Experiment, begun: Option<&RunDir>) -> Result<(), Failure> {
    let wanted = experiment.config.dump.clone();
    if [wanted.positives, wanted.negatives, wanted.every_epochs]
        .iter()
        .all(|number| number.is_given)
    {
        return Ok(());
    }
    let begun = begun
        .map(|run| Failure::separate(run.config()))
        .transpose()?;
    if let Some(Ok(begun)) = begun {
        let dump = &mut experiment.config.dump;
        dump.positives.adapt(begun.dump.positives.value);
        dump.negatives.adapt(begun.dump.negatives.value);
        dump.every_epochs.adapt(begun.dump.every_epochs.value);
        // The run has these, and the first samples of some classes.
        if begun.dump.samples.starts_with(&dump.samples) {
            dump.samples = begun.dump.samples;
        }
        return Ok(());
    }
    let (all, bytes) = volume(experiment)?;
    if bytes <= ESTIMATED {
        return Ok(());
    }
    for dump in smaller(experiment) {
        experiment.config.dump = dump;
        if volume(experiment)?.1 <= ESTIMATED {
            break;
        }
    }
    let (fewer, less) = volume(experiment)?;
    let dump = &experiment.config.dump;
    if *dump != wanted {
        note(&format!(
            "by default, this run would write {all} ({}); to stay below {}, it writes {fewer} ({}); to choose for \
             yourself, set dump.positives, dump.negatives and dump.every_epochs",
            million_bytes(bytes),
            million_bytes(DEFAULT_BYTES),
            million_bytes(less),
        ));
    }
    Ok(())
}

/// The dumps of a run in words, and their bytes.
fn volume(experiment: &Experiment) -> Result<(String, f64), Failure> {
    let config = &experiment.config;
    let best = u64::from(config.training.keep_best.is_some());
    let dumps = dumps_after(experiment, 0) + best;
    let samples = config.dump.chosen(experiment.splits.shown()).len();
    let words = format!(
        "{} of {}",
        counted(dumps as usize, "dump"),
        counted(samples, "sample")
    );
    Ok((words, dumps as f64 * dump_bytes(experiment)?))
}

/// Ever smaller selections of dumps.
fn smaller(experiment: &Experiment) -> Vec<DumpConfig> {
    let shown = experiment.splits.shown();
    let mut dump = experiment.config.dump.clone();
    let mut all = Vec::new();
    let open = [dump.positives, dump.negatives].into_iter();
    let open = open.filter(|number| !number.is_given);
    let most = open.map(|number| number.value).max().unwrap_or(0);
    for count in (1..most).rev() {
        dump.positives.adapt(dump.positives.value.min(count));
        dump.negatives.adapt(dump.negatives.value.min(count));
        all.push(dump.clone());
    }
    if !dump.every_epochs.is_given {
        let epochs = experiment.epochs();
        let doubled = std::iter::successors(Some(2_usize), |every| every.checked_mul(2));
        for every in doubled.take_while(|&every| every < epochs).chain([0]) {
            dump.every_epochs.adapt(every);
            all.push(dump.clone());
        }
    }
    if !dump.positives.is_given && !dump.negatives.is_given {
        let labels = shown.labels().iter().copied();
        let last = labels.filter(|&label| label != IGNORED).max().unwrap_or(0);
        let classes = (1..=last).chain([0]);
        let mut firsts: Vec<usize> = classes
            .filter_map(|class| shown.of_class(class).next())
            .collect();
        dump.positives.adapt(0);
        dump.negatives.adapt(0);
        let given = dump.samples.clone();
        while firsts.pop().is_some() {
            dump.samples = given.iter().chain(&firsts).copied().collect();
            all.push(dump.clone());
        }
    }
    all
}

/// Prints how many dumps training after step `start` will write, if they are many or large.
///
/// # Errors
/// When they are too large, unless `accepted`.
pub fn check(experiment: &Experiment, start: usize, accepted: bool) -> Result<(), Failure> {
    let (count, bytes) = (dumps_after(experiment, start), dump_bytes(experiment)?);
    let bytes = count as f64 * bytes;
    let volume = format!(
        "{}, about {} in total",
        counted(count as usize, "dump"),
        megabytes(bytes)
    );
    if bytes > MOST_BYTES && !accepted {
        return Err(Failure::Input(format!(
            "training would write {volume}; to write less, raise dump.every_steps or dump.every_epochs (0 disables \
             them), or lower dump.positives, dump.negatives, dump.samples or the number of dump.formats; to write \
             them all, train with --force"
        )));
    }
    if count > NOTED_DUMPS || bytes > NOTED_BYTES {
        note(&format!(
            "training will write {volume}; to change that, edit [dump] in the config"
        ));
    }
    Ok(())
}

/// How many dumps training after step `start` writes, unless it stops early.
pub(crate) fn dumps_after(experiment: &Experiment, start: usize) -> u64 {
    let DumpConfig {
        every_epochs,
        every_steps,
        ..
    } = experiment.config.dump;
    let between = |every: usize| match every {
        0 => 0,
        _ => (experiment.steps().saturating_sub(1) / every).saturating_sub(start / every),
    };
    let by_epochs = every_epochs
        .value
        .saturating_mul(experiment.steps_per_epoch());
    let both = match gcd(every_steps, by_epochs) {
        0 => 0,
        common => (every_steps / common).saturating_mul(by_epochs),
    };
    // The last step has one, and so has the start of a run.
    let at_ends = 1 + usize::from(start == 0 && experiment.steps() > 0);
    (between(every_steps) + between(by_epochs) - between(both) + at_ends) as u64
}

/// The bytes of one dump, in all formats.
fn dump_bytes(experiment: &Experiment) -> Result<f64, Failure> {
    let config = &experiment.config;
    let samples = config.dump.chosen(experiment.splits.shown()).len();
    let dims = fused::dims(config, samples)?;
    let (numbers, bytes) = headlight_dump::size(dims, is_masked(config));
    let extents = [
        dims.samples,
        dims.layers,
        dims.heads,
        dims.positions,
        dims.positions,
    ];
    let rows: f64 = extents.map(|extent| extent as f64).iter().product();
    let formats = config.dump.formats.iter().map(|format| match format {
        DumpFormat::Npz => bytes * NPZ_BYTE + REST,
        DumpFormat::Json => numbers * JSON_NUMBER + REST,
        DumpFormat::Csv => rows * CSV_ROW,
    });
    Ok(formats.sum())
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A number of bytes in MB.
fn million_bytes(bytes: f64) -> String {
    format!("{:.0} MB", bytes / 1e6)
}

/// A number of bytes with its unit.
fn megabytes(bytes: f64) -> String {
    let mebibytes = bytes / f64::from(1 << 20);
    if mebibytes < 1024.0 {
        format!("{mebibytes:.0} MiB")
    } else {
        format!("{:.1} GiB", mebibytes / 1024.0)
    }
}
