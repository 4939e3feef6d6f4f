//! What a run records: attention dumps and checkpoints.

use serde::{Deserialize, Serialize};

/// The `[dump]` section: which samples are recorded, when, and in which formats.
///
/// The start, before the first step, and the end, after the last, are always recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DumpConfig {
    /// Training samples by index.
    pub samples: Vec<usize>,
    /// How many of the first positive training samples to record besides.
    pub positives: usize,
    /// How many of the first negative training samples to record besides.
    pub negatives: usize,
    /// Epochs between records; 0 for none.
    pub every_epochs: usize,
    /// Steps between records; 0 for none.
    pub every_steps: usize,
    /// Files to write for each record.
    pub formats: Vec<DumpFormat>,
}

impl Default for DumpConfig {
    fn default() -> Self {
        Self {
            samples: vec![0],
            positives: 8,
            negatives: 8,
            every_epochs: 1,
            every_steps: 0,
            formats: vec![DumpFormat::Npz],
        }
    }
}

/// The `[checkpoint]` section.
///
/// A run is always saved when it ends, and when a signal stops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckpointConfig {
    /// Seconds between checkpoints: the most that a killed run loses; 0 for none.
    pub every_seconds: u64,
    /// Epochs between checkpoints; 0 for none.
    pub every_epochs: usize,
    /// Steps between checkpoints; 0 for none.
    pub every_steps: usize,
}

impl Default for CheckpointConfig {
    fn default() -> Self {
        Self {
            every_seconds: 5,
            every_epochs: 0,
            every_steps: 0,
        }
    }
}

/// A file format for attention dumps, named after the file extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DumpFormat {
    /// Everything, for NumPy.
    Npz,
    /// Everything, as nested lists.
    Json,
    /// Scores and weights, one line per pair of positions.
    Csv,
}

impl DumpFormat {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Npz, Self::Json, Self::Csv];

    /// The file extension.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Npz => "npz",
            Self::Json => "json",
            Self::Csv => "csv",
        }
    }
}
