//! The files of a run, in one table.

use std::fs;
use std::path::Path;

/// The resolved config, the first file of a run beside its lock: without it, no run has begun.
pub const CONFIG: &str = "config.toml";
/// The machine and the program.
pub(crate) const ENVIRONMENT: &str = "environment.json";
/// The words, if samples are texts.
pub(crate) const TOKENIZER: &str = "tokenizer.json";
/// The lock file. The process that writes the run holds it, so that no other process does.
pub(crate) const LOCK: &str = ".lock";
/// The evaluations, one row each.
pub(crate) const METRICS: &str = "metrics.jsonl";
/// The folder of dumps.
pub(crate) const ATTENTION: &str = "attention";
/// The folder of the weights at each evaluation, if the config asks for them.
pub(crate) const STEP_WEIGHTS: &str = "weights";
/// The folder of what a run is resumed from.
pub(crate) const CHECKPOINT: &str = "checkpoint";
/// The loss of each step.
pub(crate) const LOSSES: &str = "loss.npy";
/// The weights of the best evaluation.
pub(crate) const BEST: &str = "best.safetensors";
/// The weights after the last step.
pub(crate) const WEIGHTS: &str = "model.safetensors";
/// How the model answers all possible inputs, if the config asks for it.
pub(crate) const CERTIFICATE: &str = "certificate.json";
/// The page.
pub const PAGE: &str = "inspector.html";
/// The hashes of the files.
pub(crate) const MANIFEST: &str = "manifest.sha256";
/// The last file of a run: with it, the run has ended.
pub const REPORT: &str = "report.md";

/// When a file is written, and so when it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhenWritten {
    /// Before the first step. The file stays.
    AtStart,
    /// During training. A resumed run goes back to its checkpoint, so what is later goes.
    InTraining,
    /// After the last step. The file goes if the run is trained further.
    AtEnd,
}

/// A file of a run, or a folder with all files in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunFile {
    /// Its name in the run directory.
    pub(crate) name: &'static str,
    pub(crate) written: WhenWritten,
    /// Whether the manifest has its hash.
    pub(crate) is_listed: bool,
}

const fn file(name: &'static str, written: WhenWritten, is_listed: bool) -> RunFile {
    RunFile {
        name,
        written,
        is_listed,
    }
}

/// All files of a run, in the order in which those of its end go: without its report, the run has not ended.
pub(crate) const FILES: [RunFile; 15] = [
    file(LOCK, WhenWritten::AtStart, false),
    file(CONFIG, WhenWritten::AtStart, true),
    file(ENVIRONMENT, WhenWritten::AtStart, true),
    file(TOKENIZER, WhenWritten::AtStart, true),
    file(METRICS, WhenWritten::InTraining, true),
    file(ATTENTION, WhenWritten::InTraining, true),
    file(STEP_WEIGHTS, WhenWritten::InTraining, true),
    file(CHECKPOINT, WhenWritten::InTraining, true),
    file(REPORT, WhenWritten::AtEnd, true),
    file(MANIFEST, WhenWritten::AtEnd, false),
    file(LOSSES, WhenWritten::AtEnd, true),
    file(BEST, WhenWritten::AtEnd, true),
    file(WEIGHTS, WhenWritten::AtEnd, true),
    file(CERTIFICATE, WhenWritten::AtEnd, true),
    file(PAGE, WhenWritten::AtEnd, true),
];

/// Whether a path is in the directory of a run, or in a folder there: only the run itself writes there.
pub(crate) fn is_in_run(path: &Path) -> bool {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    let parent = parent.unwrap_or(Path::new("."));
    let folder = fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned());
    folder.ancestors().take(2).any(is_run)
}

/// Whether a folder is that of a run, also if the run has not ended, or was damaged.
fn is_run(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    has(MANIFEST) || has(ENVIRONMENT) && has(METRICS)
}

/// The name of the best model's dump, without its format.
pub(crate) const BEST_DUMP: &str = "best";
/// The loss of each step until the checkpoint, float32, little-endian.
pub(crate) const LOSS_LOG: &str = "checkpoint/losses.f32";
/// The checkpoint.
pub(crate) const STATE: &str = "checkpoint/state.safetensors";

/// Whether a run writes a file of this name into one of its folders.
pub(crate) fn is_in_folder_of_run(path: &Path) -> bool {
    let is_best = path.file_stem().is_some_and(|stem| stem == BEST_DUMP);
    let is_of_checkpoint = [LOSS_LOG, STATE].iter().any(|name| path.ends_with(name));
    step_of(path).is_some() || is_best || is_of_checkpoint
}

/// The step in the name of a dump, or of the weights at a step.
pub fn step_of(path: &Path) -> Option<usize> {
    path.file_stem()?
        .to_str()?
        .strip_prefix("step-")?
        .parse()
        .ok()
}
