//! How many dumps a run will write, and how large they are: printed before training, and refused above a limit.

use headlight_experiment::config::{DumpConfig, DumpFormat};
use headlight_experiment::{Experiment, fused};
use headlight_inspector::counted;

use crate::Failure;
use crate::notes::note;
use crate::sessions::dumping::is_masked;

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
fn dumps_after(experiment: &Experiment, start: usize) -> u64 {
    let DumpConfig {
        every_epochs,
        every_steps,
        ..
    } = experiment.config.dump;
    let between = |every: usize| match every {
        0 => 0,
        _ => (experiment.steps().saturating_sub(1) / every).saturating_sub(start / every),
    };
    let by_epochs = every_epochs.saturating_mul(experiment.steps_per_epoch());
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
    let (config, train) = (&experiment.config, &experiment.splits.train);
    let samples = config.dump.chosen(train).len();
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

/// A number of bytes with its unit.
fn megabytes(bytes: f64) -> String {
    let mebibytes = bytes / f64::from(1 << 20);
    if mebibytes < 1024.0 {
        format!("{mebibytes:.0} MiB")
    } else {
        format!("{:.1} GiB", mebibytes / 1024.0)
    }
}
