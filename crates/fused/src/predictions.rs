//! What a forward pass predicts, sample by sample.

use headlight_architecture::Readout;

use crate::chunk::Chunk;
use crate::lanes::Lanes;
use crate::pass::Pass;
use crate::samples::BatchPredictions;

impl<const L: usize> Pass<'_, L> {
    /// Appends the predictions of a forward pass, which computed of the last layer all rows or the one that is read.
    pub(crate) fn append(
        &self,
        chunk: Chunk<'_>,
        all_rows: bool,
        predictions: &mut BatchPredictions,
    ) {
        let (computed, values) = (self.positions, &self.values.answers);
        let (positions, readout) = (
            self.architecture.inputs.positions,
            self.architecture.readout,
        );
        let Some(layer) = self.values.layers.last() else {
            return;
        };
        for lane in 0..chunk.chosen.len() {
            // What a sample does not hold is predicted as 0, whatever else is in the chunk.
            let held = match (readout, &self.hook) {
                (Readout::Every, None) => self.held_by(chunk, lane),
                _ => positions,
            };
            let of_lane = |values: &[Lanes<L>], into: &mut Vec<f32>| {
                let held = match readout {
                    Readout::Every => held * (values.len() / positions),
                    Readout::Position | Readout::Mean => values.len(),
                };
                into.extend(values[..held].iter().map(|value| value[lane]));
                into.resize(into.len() + values.len() - held, 0.0);
            };
            of_lane(&values.logits, &mut predictions.logits);
            of_lane(&values.probabilities, &mut predictions.probabilities);
            of_lane(&values.losses, &mut predictions.losses);
            let queries = match readout {
                Readout::Every => 0..positions,
                Readout::Position | Readout::Mean => {
                    let shown = self.shown_position(chunk, lane);
                    shown..shown + 1
                }
            };
            let (rows, first) = if all_rows {
                (computed, 0)
            } else {
                (1, queries.start)
            };
            for head in 0..self.architecture.model.n_heads {
                for query in queries.clone() {
                    let row = (head * rows + query - first) * computed;
                    let is_computed = query < computed.min(held) || !all_rows;
                    let row = row..row + if is_computed { computed } else { 0 };
                    let end = predictions.attention.len() + positions;
                    let weights = layer.attention.weights[row].iter();
                    predictions
                        .attention
                        .extend(weights.map(|weights| weights[lane]));
                    predictions.attention.resize(end, 0.0);
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
        if self.architecture.readout != Readout::Mean || !is_padding(read) {
            return read;
        }
        let mut positions = (0..self.architecture.inputs.positions).rev();
        positions
            .find(|&position| !is_padding(position))
            .unwrap_or(read)
    }
}
