//! Which attention dumps and checkpoints a run writes, and how it reports what came of training.

use headlight_data::Dataset;
use headlight_schema::{Range, choices, section};

use super::MeasureName;
use super::adaptable::Adaptable;

section! {
    /// The `[dump]` section: which samples a run dumps, when, and in which formats.
    ///
    /// A run always writes a dump before the first step and one after the last.
    pub struct DumpConfig {
        /// Training samples to dump, by index; held-out ones where `data.samples = "fresh"`, as for the next two keys.
        pub samples: Vec<usize> = vec![0],
        /// How many training samples of each class but 0 to add, starting from the first; where samples have a label per position,
        /// how many samples. The default is lower where the first and the last dump would take more than 20 MB.
        pub positives: Adaptable = Adaptable::by_default(8),
        /// How many training samples of class 0 to add, starting from the first. The default is lower as for `positives`.
        pub negatives: Adaptable = Adaptable::by_default(8),
        /// Epochs between dumps; 0 writes only those of the first and the last step. The default is 0 where a run would write
        /// more than 20 MB of dumps.
        pub every_epochs: Adaptable = Adaptable::by_default(1),
        /// Steps between dumps; 0 disables them. Above 1 GiB of dumps, training begins only if it is forced.
        pub every_steps: usize = 0,
        /// The formats to write each dump in.
        pub formats: Vec<DumpFormat> = vec![DumpFormat::Npz],
    }
}

impl DumpConfig {
    /// The samples to dump, of those that a run shows: the given ones and the first of each class, in order.
    pub fn chosen(&self, shown: &Dataset) -> Vec<usize> {
        let mut indices = self.samples.clone();
        let (positives, negatives) = (self.positives.value, self.negatives.value);
        if shown.is_per_position() {
            indices.extend(0..positives.saturating_add(negatives).min(shown.len()));
        } else {
            let last = shown.labels().iter().copied().max().unwrap_or(0);
            for class in 0..=last {
                let count = if class == 0 { negatives } else { positives };
                indices.extend(shown.of_class(class).take(count));
            }
        }
        indices.sort_unstable();
        indices.dedup();
        indices
    }
}

section! {
    /// The `[checkpoint]` section: how often a run saves its state.
    ///
    /// A run always saves it at its end, and when a signal stops it.
    #[derive(Copy, Eq)]
    pub struct CheckpointConfig {
        /// Seconds between checkpoints, the most that a killed run loses; 0 disables them.
        pub every_seconds: u64 = 5,
        /// Epochs between checkpoints; 0 disables them. The end of a run always has one.
        pub every_epochs: usize = 0,
        /// Steps between checkpoints; 0 disables them.
        pub every_steps: usize = 0,
    }
}

choices! {
    /// A file format for attention dumps, named after the file extension.
    pub enum DumpFormat {
        /// All arrays, for NumPy.
        Npz = "npz",
        /// All arrays, as nested lists.
        Json = "json",
        /// Scores and attention weights, one row per pair of positions.
        Csv = "csv",
    }
}

section! {
    /// The `[report]` section: how a run reports what came of training.
    pub struct ReportConfig {
        /// The F1 from which a model counts as one that learned its task: on held-out samples, or on training samples if
        /// none are held out.
        #[range(Range::SHARE)]
        pub learned: f64 = LEARNED,
        /// Measures of how the trained model works: each is a column of a sweep's rows, and an evaluation shows them.
        #[omit(default)]
        pub measures: Vec<MeasureName> = Vec::new(),
    }
}

/// The default of `report.learned`, which also decides for the rows of a sweep whose config is unknown.
pub const LEARNED: f64 = 0.99;
