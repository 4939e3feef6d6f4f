//! Which attention dumps and checkpoints a run writes.

use headlight_data::Dataset;
use serde::{Deserialize, Serialize};

/// The `[dump]` section: which samples a run dumps, when, and in which formats.
///
/// A run always writes a dump before the first step and one after the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DumpConfig {
    /// Training samples by index.
    pub samples: Vec<usize>,
    /// How many training samples of each class but 0 to add, starting from the first.
    pub positives: usize,
    /// How many of class 0 to add.
    pub negatives: usize,
    /// Epochs between dumps; 0 disables them.
    pub every_epochs: usize,
    /// Steps between dumps; 0 disables them.
    pub every_steps: usize,
    /// The formats to write each dump in.
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

impl DumpConfig {
    /// The training samples to dump: the given ones and the first of each class, in order.
    pub fn chosen(&self, train: &Dataset) -> Vec<usize> {
        let last = train.labels().iter().copied().max().unwrap_or(0);
        let mut indices = self.samples.clone();
        for class in 0..=last {
            let count = if class == 0 {
                self.negatives
            } else {
                self.positives
            };
            indices.extend(train.of_class(class).take(count));
        }
        indices.sort_unstable();
        indices.dedup();
        indices
    }
}

/// The `[checkpoint]` section: how often a run saves its state.
///
/// A run always saves it at its end, and when a signal stops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckpointConfig {
    /// Seconds between checkpoints, the most that a killed run loses; 0 disables them.
    pub every_seconds: u64,
    /// Epochs between checkpoints; 0 disables them.
    pub every_epochs: usize,
    /// Steps between checkpoints; 0 disables them.
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
    /// All arrays, for NumPy.
    Npz,
    /// All arrays, as nested lists.
    Json,
    /// Scores and weights, one row per pair of positions.
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
