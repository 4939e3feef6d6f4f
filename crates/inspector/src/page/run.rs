//! One run of a page.

use std::ops::Range;

use headlight_dump::AttentionDump;

use super::selection::Selection;
use super::{Evidence, LossPoint};

/// One run, or one dump, of a page.
///
/// Dumps are added one by one, and only the samples that the page shows are kept. The page says what it
/// leaves out.
#[derive(Clone, Debug)]
pub struct PageRun {
    pub(super) name: String,
    pub(super) selection: Selection,
    /// The numbers of dumps and of samples, of which the page keeps a selection.
    pub(super) recorded: [usize; 2],
    pub(super) dumps: Vec<AttentionDump>,
    pub(super) worst_row_sum: f64,
    /// The loss curve, by step.
    pub loss: Vec<LossPoint>,
    /// The origin of the numbers, in the order of the page.
    pub evidence: Vec<Evidence>,
}

impl PageRun {
    /// A run of `dumps` dumps like this one, in a page of `runs` runs.
    pub fn new(name: String, dump: &AttentionDump, dumps: usize, runs: usize) -> Self {
        Self {
            name,
            selection: Selection::of(dump, dumps.max(1), runs.max(1)),
            recorded: [dumps.max(1), dump.dims.samples],
            dumps: Vec::new(),
            worst_row_sum: 0.0,
            loss: Vec::new(),
            evidence: Vec::new(),
        }
    }

    /// Indices of the dumps to add, in order.
    pub fn wanted(&self) -> &[usize] {
        &self.selection.steps
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
        if dump.attention_weights.is_empty() {
            return Err("it has no attention".to_owned());
        }
        self.worst_row_sum = self.worst_row_sum.max(dump.worst_row_sum());
        let dump = part(dump, &self.selection.samples);
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

/// The dump of these samples alone.
fn part(dump: &AttentionDump, samples: &[usize]) -> AttentionDump {
    fn rows<T: Copy>(values: &[T], samples: &[usize], all: usize) -> Vec<T> {
        let size = values.len() / all.max(1);
        let row = |&sample: &usize| -> Range<usize> { sample * size..(sample + 1) * size };
        samples
            .iter()
            .flat_map(|sample| values[row(sample)].iter().copied())
            .collect()
    }
    let all = dump.dims.samples;
    let floats = |values: &[f32]| rows(values, samples, all);
    let mut meta = dump.meta.clone();
    meta.samples = rows(&dump.meta.samples, samples, all);
    let positions = samples.iter().map(|&row| &dump.meta.label_positions[row]);
    meta.label_positions = positions.cloned().collect();
    AttentionDump {
        dims: headlight_dump::Dims {
            samples: samples.len(),
            ..dump.dims
        },
        meta,
        tokens: rows(&dump.tokens, samples, all),
        labels: floats(&dump.labels),
        logits: floats(&dump.logits),
        probabilities: floats(&dump.probabilities),
        attention_scores: floats(&dump.attention_scores),
        attention_weights: floats(&dump.attention_weights),
        query: floats(&dump.query),
        key: floats(&dump.key),
        value: floats(&dump.value),
        context: floats(&dump.context),
        embeddings: floats(&dump.embeddings),
        residual: floats(&dump.residual),
        attention_mask: dump
            .attention_mask
            .as_ref()
            .map(|mask| rows(mask, samples, all)),
        feed_forward: None,
    }
}
