//! The config of a sweep, written beside its results file: rows hold the hash of it alone.

use std::path::{Path, PathBuf};

use headlight_experiment::config::{ExperimentConfig, toml as changes};
use headlight_input::TEXT_LIMIT;
use headlight_trainer::files::access::read_text;
use headlight_trainer::files::config;
use headlight_trainer::messages::notes::note_once;
use headlight_trainer::session::opening::engine_for;
use headlight_trainer::training::resume::differences;
use headlight_trainer::{DatasetFiles, Destination, Failure, Output, note, option, shown};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What precedes the hash in the first line of such a file; a file without it is the user's own.
const MARK: &str = "# The config of a sweep, whose rows have config_sha256 = ";

/// The second line: its runs.
const RUNS: &str = "# ";

/// Why rows do not belong, where their config is not known.
pub(crate) const FROM_ANOTHER_SWEEP: &str =
    "the row comes from another config, grid, dataset or version of Headlight";

/// The most keys that a message lists.
const LISTED: usize = 5;

/// The config of a sweep, before its dataset file has completed it, so that it trains each run again.
#[derive(Clone, Debug)]
pub(crate) struct RecordedConfig {
    path: PathBuf,
    text: String,
}

/// The file beside a results file; the shards of a sweep, `FILE-I-of-N.jsonl`, share one.
pub fn config_beside(results: &Path) -> PathBuf {
    results.with_file_name(format!("{}.config.toml", name_without_shard(results)))
}

/// The name of a results file without its ending, and without the shard.
pub(crate) fn name_without_shard(results: &Path) -> String {
    let stem = results.file_stem().unwrap_or_default().to_string_lossy();
    let whole = stem.rsplit_once("-of-").and_then(|(start, count)| {
        let (whole, index) = start.rsplit_once('-')?;
        let is_number = |text: &str| text.parse::<usize>().is_ok();
        (is_number(index) && is_number(count)).then_some(whole)
    });
    whole.unwrap_or(&stem).to_owned()
}

/// The runs of a sweep: the seeds from the first up to an end, at each point of its grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Extent {
    pub(crate) first_seed: u64,
    pub(crate) end: u64,
    pub(crate) points: usize,
}

impl Extent {
    fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text.lines().nth(1)?.strip_prefix(RUNS)?).ok()
    }

    /// The runs from the first to the last of both.
    pub(crate) fn union(self, other: Self) -> Self {
        Self {
            first_seed: self.first_seed.min(other.first_seed),
            end: self.end.max(other.end),
            points: self.points.max(other.points),
        }
    }
}

impl RecordedConfig {
    /// The config of the rows with this hash, if it is beside their file. A note tells of a file there that is not.
    pub(crate) fn beside(results: &Path, config_sha256: &str) -> Option<Self> {
        let path = config_beside(results);
        let text = read_text(&path, TEXT_LIMIT).ok()?;
        if marked(&text) != Some(config_sha256) {
            let told = format!(
                "{} is ignored: it is not the config of these rows",
                shown(&path)
            );
            note_once(&told, &told);
            return None;
        }
        Some(Self { path, text })
    }

    /// Writes the config of a sweep beside its results file, in place of that of an earlier sweep; never in place of a
    /// file that no sweep wrote. The runs of the sweep add to those that the file names.
    pub(crate) fn write(
        results: &Path,
        config: &str,
        config_sha256: &str,
        runs: Extent,
    ) -> Result<(), Failure> {
        let path = config_beside(results);
        let mut all = runs;
        if path.exists() {
            let text = read_text(&path, TEXT_LIMIT).unwrap_or_default();
            let Some(hash) = marked(&text) else {
                note(&format!(
                    "the config of this sweep is not written, since another file has its name: {}",
                    shown(&path)
                ));
                return Ok(());
            };
            let known = Extent::parse(&text).filter(|_| hash == config_sha256);
            all = known.map_or(runs, |known| known.union(runs));
            if known == Some(all) {
                return Ok(());
            }
        }
        let all = serde_json::to_string(&all).unwrap_or_default();
        let text = format!("{MARK}{config_sha256}\n{RUNS}{all}\n\n{config}");
        Output::new(&Destination::from(path), true)?.write_all(text.as_bytes())
    }

    /// Writes it beside another results file, for merged rows of these runs.
    pub(crate) fn copy(&self, to: &Path, runs: Extent) -> Result<(), Failure> {
        let config = self.text.split_once("\n\n").map_or("", |(_, text)| text);
        Self::write(to, config, marked(&self.text).unwrap_or_default(), runs)
    }

    /// The runs of the sweep, if the file names them.
    pub(crate) fn runs(&self) -> Option<Extent> {
        Extent::parse(&self.text)
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The config at a point of the grid.
    pub(crate) fn config(&self, changes: &[String]) -> Result<ExperimentConfig, Failure> {
        let changes = changes
            .iter()
            .map(|change| (option("--grid", "grid:"), change.as_str()));
        config::parse(&self.path, &self.text, changes, &DatasetFiles::default())
    }
}

/// The values of a grid as `KEY=VALUE`.
pub(crate) fn as_changes<'a>(
    values: impl IntoIterator<Item = (&'a String, &'a Value)>,
) -> Vec<String> {
    let change = |(key, value): (&String, &Value)| {
        let toml = toml::Value::try_from(value);
        let written = toml.map_or_else(|_| value.to_string(), |value| value.to_string());
        // A word that is no TOML needs no quotes.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        let bare = value.as_str().filter(|text| {
            text.contains(char::is_alphabetic)
                && text.chars().all(is_plain)
                && text.parse::<toml::Value>().is_err()
        });
        format!("{key}={}", bare.unwrap_or(&written))
    };
    values.into_iter().map(change).collect()
}

fn marked(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix(MARK)
}

/// A config with its changes, before its dataset file completes it, as TOML.
pub(crate) fn changed_text<'a>(
    path: &Path,
    all: impl Iterator<Item = changes::Change<'a>>,
    files: &DatasetFiles,
) -> Result<String, Failure> {
    let all: Vec<_> = all.collect();
    let (text, _) = config::text_of(path, all.iter().map(|(_, text)| *text), files)?;
    let found =
        changes::apply_changes(&shown(path), &text, all.into_iter()).map_err(Failure::Input)?;
    toml::to_string(&found)
        .map_err(|error| Failure::System(format!("the config cannot be written: {error}")))
}

/// Why rows with another hash are not those of a config, as the end of a sentence: the keys that differ, where the
/// config of the rows is known.
pub(crate) fn difference(results: &Path, config_sha256: &str, config: &ExperimentConfig) -> String {
    let Some(recorded) = RecordedConfig::beside(results, config_sha256) else {
        return FROM_ANOTHER_SWEEP.to_owned();
    };
    let json = |mut config: ExperimentConfig| {
        config.compute.engine = engine_for(&config).unwrap_or(config.compute.engine);
        serde_json::to_value(config).unwrap_or_default()
    };
    let Ok(theirs) = recorded.config(&[]).map(json) else {
        return FROM_ANOTHER_SWEEP.to_owned();
    };
    // Rows do not depend on these.
    let is_free =
        |key: &str| key == "seed" || key.starts_with("dump.") || key.starts_with("checkpoint.");
    let differing = differences(&theirs, &json(config.clone())).into_iter();
    let differing = differing.filter(|(key, ..)| !is_free(key));
    let differing: Vec<String> = differing
        .map(|(key, theirs, ours)| format!("its `{key}` is {}, not {}", brief(theirs), brief(ours)))
        .collect();
    match differing.len() {
        0 => format!(
            "the row comes from another grid, dataset or version of Headlight; its config, {}, is the same",
            shown(recorded.path())
        ),
        count => {
            let more = if count > LISTED { ", and more" } else { "" };
            let listed = differing[..count.min(LISTED)].join(", ");
            format!("the row comes from another config: {listed}{more}")
        }
    }
}

/// A value on a line; the words of a vocabulary are too many for a message.
fn brief(text: String) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
