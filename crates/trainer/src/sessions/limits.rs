//! What a run writes and Headlight reads back: how large it can become, and the limit of its reader. Both are in one table,
//! which is checked before training, so that no run writes what it could not resume from.

use headlight_architecture::Layout;
use headlight_experiment::config::DumpFormat;
use headlight_experiment::metrics::METRICS;
use headlight_experiment::{Experiment, fused};
use headlight_input::{FILE_LIMIT, LINE_LIMIT, TEXT_LIMIT, size};

use crate::Failure;
use crate::sessions::dump_volume::dumps_after;
use crate::sessions::dumping::is_masked;
use crate::sessions::resume::{self, json};
use crate::storage::config::{to_toml, with_absolute_paths};
use crate::storage::run_dir::MANIFEST_LIMIT;
use crate::storage::weights::{self, HEADER_LIMIT};

/// What a run writes, in bytes, and what is read of it.
#[derive(Debug)]
pub struct Pair {
    /// What is written.
    pub what: &'static str,
    /// The most that a run writes.
    pub largest: fn(&Experiment) -> Result<u64, Failure>,
    /// The most that is read back.
    pub limit: fn(&Experiment) -> u64,
    /// What a config that exceeds it must lower.
    pub remedy: &'static str,
}

/// The bytes around the tensors of a safetensors file and the checksum of a checkpoint.
const AROUND: u64 = 1 << 12;

/// The bytes of a number of a row of `metrics.jsonl`, with its name, and of a dump or another file in the manifest.
const METRIC: u64 = 64;
const LISTED: u64 = 110;

/// Every file of a run that Headlight writes and reads.
pub const PAIRS: [Pair; 8] = [
    Pair {
        what: "config.toml",
        largest: |experiment| {
            let config = with_absolute_paths(experiment.config.clone())?;
            Ok(to_toml(&config)?.len() as u64)
        },
        limit: |_| TEXT_LIMIT,
        remedy: "lower data.words.max_words, or shorten the lists of the config",
    },
    Pair {
        what: "the header of a checkpoint",
        largest: header,
        limit: |_| HEADER_LIMIT,
        remedy: "lower data.words.max_words, or shorten the lists of the config",
    },
    Pair {
        what: "a checkpoint",
        // Weights, two moments of Adam, and the best model.
        largest: |experiment| Ok(16 * parameters(experiment) + header(experiment)?),
        limit: resume::limit,
        remedy: "lower data.vocab_size or model.d_model",
    },
    Pair {
        what: "model.safetensors",
        largest: |experiment| Ok(4 * parameters(experiment) + names(experiment) + AROUND),
        limit: |experiment| weights::limit(&layout(experiment)),
        remedy: "lower model.n_layers",
    },
    Pair {
        what: "a row of metrics.jsonl",
        largest: |_| Ok(2 * METRIC * METRICS.len() as u64),
        limit: |_| LINE_LIMIT,
        remedy: "lower data.n_classes",
    },
    Pair {
        what: "manifest.sha256",
        largest: |experiment| {
            let formats = experiment.config.dump.formats.len() as u64;
            Ok((dumps_after(experiment, 0) * formats).saturating_mul(LISTED) + AROUND)
        },
        limit: |_| MANIFEST_LIMIT,
        remedy: "raise dump.every_steps or dump.every_epochs",
    },
    Pair {
        what: "a dump as npz",
        largest: |experiment| {
            let config = &experiment.config;
            if !config.dump.formats.contains(&DumpFormat::Npz) {
                return Ok(0);
            }
            let samples = config.dump.chosen(experiment.splits.shown()).len();
            let dims = fused::dims(config, samples)?;
            let arrays = headlight_dump::size(dims, is_masked(config)).1 as u64;
            // A character of a text has four bytes.
            Ok(arrays + 4 * meta(experiment)?)
        },
        limit: |_| FILE_LIMIT,
        remedy: FEWER_SAMPLES,
    },
    Pair {
        what: "the meta of a dump",
        largest: meta,
        limit: |_| headlight_npz::TEXT_LIMIT,
        remedy: FEWER_SAMPLES,
    },
];

const FEWER_SAMPLES: &str = "lower dump.positives, dump.negatives or the number of dump.samples";

/// Refuses a run that would write what cannot be read back.
///
/// # Errors
/// Names the file, its size, the limit and the keys to change.
pub fn check(experiment: &Experiment) -> Result<(), Failure> {
    for pair in &PAIRS {
        let (largest, limit) = ((pair.largest)(experiment)?, (pair.limit)(experiment));
        if largest > limit {
            return Err(Failure::Input(format!(
                "the run would write {} of up to {largest} bytes, and Headlight reads at most {}; {}",
                pair.what,
                size(limit),
                pair.remedy
            )));
        }
    }
    Ok(())
}

fn layout(experiment: &Experiment) -> Vec<Layout> {
    let config = &experiment.config;
    config.model.layout(config.inputs())
}

fn parameters(experiment: &Experiment) -> u64 {
    let sizes = layout(experiment).iter().map(Layout::size).sum::<usize>();
    sizes as u64
}

/// The bytes of the names, types, shapes and places of all parameters.
fn names(experiment: &Experiment) -> u64 {
    let layout = layout(experiment);
    layout.iter().map(|one| one.name.len() as u64 + 128).sum()
}

/// What a dump says of itself: the config, the words, and for each sample its number and the positions that decide.
fn meta(experiment: &Experiment) -> Result<u64, Failure> {
    /// A number, or a word, with the blanks before it.
    const ITEM: usize = 32;
    let config = &experiment.config;
    let json = json(config)?;
    let text = format!("{json:#}");
    let indented = text.len() + 4 * text.lines().count();
    let words = config.data.words.iter().flat_map(|words| &words.vocabulary);
    // Each byte of a word may be escaped.
    let words: usize = words.map(|word| 2 * word.len() + ITEM).sum();
    let shown = experiment.splits.shown();
    let chosen = config.dump.chosen(shown);
    let deciding = |&sample: &usize| {
        let rule = config.data.rule.as_ref();
        rule.map_or(0, |rule| {
            let tokens = shown.tokens(sample);
            let query = config.shown_position(tokens);
            rule.deciding_at(tokens, shown.cls(), query).len()
        })
    };
    let positions: usize = chosen.iter().map(deciding).sum();
    let tokens = (chosen.len() * shown.positions()).min(config.data.vocab_size as usize);
    let items = ITEM * (3 * chosen.len() + positions + tokens);
    Ok((indented + words + items) as u64 + AROUND)
}

/// The header of a checkpoint: the config as JSON within JSON, and the parameters three times, as tensors, as the best model
/// and by name.
fn header(experiment: &Experiment) -> Result<u64, Failure> {
    let config = json(&experiment.config)?.to_string();
    let escaped = config.bytes().filter(|byte| b"\"\\".contains(byte)).count();
    Ok((config.len() + escaped) as u64 + 3 * names(experiment) + AROUND)
}
