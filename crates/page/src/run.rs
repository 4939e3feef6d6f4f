//! One run of a page.

use headlight_dump::{Array, AttentionDump};

use crate::selection::{Selection, vectors};
use crate::{Evidence, LossPoint, PageTraining};

/// One run, or one dump, of a page.
///
/// Dumps are added one by one, and only the samples that the page shows are kept. The page says what it
/// leaves out.
#[derive(Clone, Debug)]
pub struct PageRun {
    pub(crate) name: String,
    pub(crate) selection: Selection,
    /// The numbers of dumps and of samples, of which the page keeps a selection.
    pub(crate) recorded: [usize; 2],
    pub(crate) dumps: Vec<AttentionDump>,
    pub(crate) worst_row_sum: f64,
    /// The strongest head of the last layer, over all samples of the dump that the page shows first.
    pub(crate) strongest: usize,
    /// Whether its scores are known, and not its weights alone.
    pub(crate) has_scores: bool,
    /// The loss curve, by step.
    pub loss: Vec<LossPoint>,
    /// The origin of the numbers, in the order of the page.
    pub evidence: Vec<Evidence>,
    /// What came of its training, as a paragraph; `None` if that is not known.
    pub outcome: Option<String>,
    /// Which of its samples are also training samples, a sentence each.
    pub repetitions: Vec<String>,
    /// Where samples have a label per position, the positions that decide each label, of all samples of a dump; empty if no rule
    /// says them. `[sample][position]`
    pub deciding: Vec<Vec<Vec<usize>>>,
    pub(crate) again: PageTraining,
}

impl PageRun {
    /// A run of `dumps` dumps like this one, in a page of `runs` runs; `best` is the index of the best model's dump among
    /// them, if the run keeps that model. If the page can train the run again, the page keeps only a small recording.
    pub fn new(
        name: String,
        dump: &AttentionDump,
        dumps: usize,
        best: Option<usize>,
        runs: usize,
        again: PageTraining,
    ) -> Self {
        let is_live = matches!(again, PageTraining::Live { .. });
        Self {
            name,
            selection: Selection::of(dump, dumps.max(1), best, runs.max(1), is_live),
            recorded: [dumps.max(1), dump.dims.samples],
            dumps: Vec::new(),
            worst_row_sum: 0.0,
            strongest: 0,
            has_scores: true,
            loss: Vec::new(),
            evidence: Vec::new(),
            outcome: None,
            repetitions: Vec::new(),
            deciding: Vec::new(),
            again,
        }
    }

    /// Indices of the dumps to add, in order.
    pub fn wanted(&self) -> &[usize] {
        &self.selection.steps
    }

    /// The arrays of vectors that all of its dumps have: the first dumps of a run may be older than the last.
    pub(crate) fn vectors(&self) -> impl Iterator<Item = Array> {
        let dumps = &self.dumps;
        let first = dumps.first().into_iter();
        let arrays = first.flat_map(|dump| vectors(dump, self.selection.is_live));
        arrays.filter(|&array| dumps.iter().all(|dump| !dump.arrays[array].is_empty()))
    }

    /// Adds the next of the wanted dumps.
    ///
    /// # Errors
    /// If its samples or its model differ from those before: the difference, in a sentence.
    pub fn add(&mut self, dump: &AttentionDump) -> Result<(), String> {
        if dump.dims.samples != self.recorded[1] {
            return Err(format!(
                "it has {} samples, and the last dump has {}",
                dump.dims.samples, self.recorded[1]
            ));
        }
        if dump.arrays[Array::Weights].is_empty() {
            return Err("it has no attention".to_owned());
        }
        self.worst_row_sum = self.worst_row_sum.max(dump.worst_row_sum());
        let last = self.selection.steps.len().saturating_sub(1);
        if self.dumps.len() == self.selection.best.unwrap_or(last) {
            self.strongest = dump.strongest().1.head;
        }
        let dump = dump.select(&self.selection.samples);
        if let Some(first) = self.dumps.first() {
            let same = first.dims == dump.dims
                && first.tokens == dump.tokens
                && first.meta.samples == dump.meta.samples
                && first.attention_mask == dump.attention_mask;
            if !same {
                return Err(
                    "its samples or its model differ from those of the first dump".to_owned(),
                );
            }
        }
        self.dumps.push(dump);
        Ok(())
    }
}
