//! What a forward pass predicts, sample by sample.

use super::pass::Pass;
use crate::chunk::Chunk;
use crate::lanes::Lanes;
use crate::samples::Predictions;
use headlight_architecture::Reads;

impl<const L: usize> Pass<'_, L> {
    /// Appends the predictions of a forward pass, which computed of the last block all rows or the one that is read.
    pub(super) fn append(&self, chunk: Chunk<'_>, all_rows: bool, predictions: &mut Predictions) {
        let computed = self.kernel.p;
        let (positions, reads) = (self.architecture.inputs.positions, self.architecture.reads);
        let n_heads = self.architecture.model.n_heads;
        let at = |query: usize, head: usize, key: usize| {
            if all_rows {
                (head * computed + query) * computed + key
            } else {
                head * computed + key
            }
        };
        let (values, answers) = (&*self.values, self.architecture.answers());
        let Some(block) = values.blocks.last() else {
            return;
        };
        for lane in 0..chunk.chosen.len() {
            let query = self.shown_position(chunk, lane);
            // What a sample does not hold is predicted as 0, whatever else is in the chunk.
            let held = match (reads, &self.probe) {
                (Reads::Every, None) => self.held_by(chunk, lane),
                _ => positions,
            };
            let of_lane = |values: &[Lanes<L>], into: &mut Vec<f32>| {
                let own = match reads {
                    Reads::Every => held * (values.len() / answers),
                    Reads::Position | Reads::Mean => values.len(),
                };
                into.extend(values[..own].iter().map(|value| value[lane]));
                into.resize(into.len() + values.len() - own, 0.0);
            };
            of_lane(&values.logits, &mut predictions.logits);
            of_lane(&values.probabilities, &mut predictions.probabilities);
            of_lane(&values.losses, &mut predictions.losses);
            let queries = match reads {
                Reads::Every => 0..positions,
                Reads::Position | Reads::Mean => query..query + 1,
            };
            for head in 0..n_heads {
                for query in queries.clone() {
                    let is_computed = query < computed.min(held) || !all_rows;
                    predictions.attention.extend((0..positions).map(|key| {
                        if is_computed && key < computed {
                            block.weights[at(query, head, key)][lane]
                        } else {
                            0.0
                        }
                    }));
                }
            }
        }
    }

    /// The position whose attention is kept: the one that the classifier reads. Of the mean, it is the last one without padding
    /// if that position holds padding.
    fn shown_position(&self, chunk: Chunk<'_>, lane: usize) -> usize {
        let read = self.architecture.inputs.read_position;
        let padding = self.architecture.model.attention.padding_token;
        let is_padding = |position: usize| Some(chunk.token(lane, position)) == padding;
        if self.architecture.reads != Reads::Mean || !is_padding(read) {
            return read;
        }
        let mut held = (0..self.architecture.inputs.positions).rev();
        held.find(|&position| !is_padding(position)).unwrap_or(read)
    }
}
