//! The numbers of a page, as bytes.

use headlight_dump::{Array, AttentionDump};

use crate::series::{planes, predicted, surprises, units};
use crate::{Page, PageRun};

impl Page {
    /// The numbers of each run, one run after the other.
    pub(crate) fn numbers(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for run in &self.runs {
            run.numbers(&mut out);
        }
        out
    }
}

impl PageRun {
    /// Scores, corrections of the weights, logits, probabilities, the mask, then the vectors of
    /// each step that has them: the order in which `script/src/sources/recorded.ts` reads.
    fn numbers(&self, out: &mut Vec<u8>) {
        let over = |field: fn(&AttentionDump) -> &[f32]| -> Vec<Vec<i64>> {
            let steps = self.dumps.iter().map(field);
            steps
                .map(|values| values.iter().map(|&value| units(value)).collect())
                .collect()
        };
        let scores = over(|dump| &dump.arrays[Array::Scores]);
        planes(out, &surprises(&scores));
        let corrections: Vec<i64> = self
            .dumps
            .iter()
            .zip(&scores)
            .flat_map(|(dump, scores)| corrections(dump, scores))
            .collect();
        planes(out, &corrections);
        planes(out, &surprises(&over(|dump| &dump.logits)));
        planes(out, &surprises(&over(|dump| &dump.probabilities)));
        if let Some(mask) = self
            .dumps
            .first()
            .and_then(|dump| dump.attention_mask.as_ref())
        {
            out.extend(mask.iter().map(|&may| u8::from(may)));
        }
        for (index, dump) in self.dumps.iter().enumerate() {
            if self.selection.has_vectors(index) {
                for array in self.vectors() {
                    // All first bytes, then all second ones, and so on: exponents are alike, and so deflate better.
                    let values = &dump.arrays[array];
                    for byte in 0..4 {
                        out.extend(values.iter().map(|value| value.to_le_bytes()[byte]));
                    }
                }
            }
        }
    }
}

/// The differences of the weights of a dump from the softmax of its scores, in ten-thousandths.
fn corrections(dump: &AttentionDump, scores: &[i64]) -> Vec<i64> {
    let positions = dump.dims.positions;
    let rows_per_sample = dump.dims.layers * dump.dims.heads * positions;
    let rows = dump.arrays[Array::Weights].chunks(positions);
    rows.zip(scores.chunks(positions))
        .enumerate()
        .flat_map(|(row, (weights, scores))| {
            let start = (row / rows_per_sample * positions + row % positions) * positions;
            let mask = dump.attention_mask.as_ref();
            let predicted = predicted(scores, |key| mask.is_none_or(|mask| mask[start + key]));
            let weights = weights.iter().map(|&weight| units(weight));
            let differences: Vec<i64> = weights
                .zip(predicted)
                .map(|(weight, predicted)| weight - predicted)
                .collect();
            differences
        })
        .collect()
}
