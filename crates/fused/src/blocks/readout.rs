//! From the last block's output to logits, and back: the norm of the output, if there is one; the vector that the classifier
//! reads, which is that of a position or the mean over all that are not padding, or the vectors of all positions, each for an
//! answer of its own; the classifier's hidden layer, if it has one; the classifier.

use super::hidden::{activate, through_activation};
use super::pass::{Pass, Sizes, apply, weights_of};
use super::products::project_back;
use crate::adam::Sums;
use crate::chunk::Chunk;
use crate::places::padded;
use headlight_architecture::Reads;

impl<const L: usize> Pass<'_, L> {
    /// The answers that are computed.
    pub(super) fn answers(&self) -> usize {
        match self.architecture.reads {
            Reads::Position | Reads::Mean => 1,
            Reads::Every => self.positions,
        }
    }

    /// The share of each position in the mean that the classifier reads.
    pub(super) fn share_positions(&mut self, chunk: Chunk<'_>) {
        let padding = self.architecture.model.attention.padding_token;
        let shares = &mut self.values.shares;
        let mut count = [0.0; L];
        for (position, share) in shares.iter_mut().enumerate() {
            for lane in 0..L {
                let is_read = Some(chunk.token(lane, position)) != padding;
                share[lane] = f32::from(u8::from(is_read));
                count[lane] += share[lane];
            }
        }
        for share in shares.iter_mut() {
            for l in 0..L {
                share[l] = if count[l] > 0.0 {
                    share[l] / count[l]
                } else {
                    0.0
                };
            }
        }
    }

    /// The logits. `row` is that of the position to read among the rows of the block's output.
    pub(super) fn read(&mut self, row: usize) {
        let Sizes { p, width, .. } = self.sizes();
        let (norms, parameters, set) = (self.norms(), self.parameters, self.instructions);
        let (places, activation) = (self.places, self.architecture.model.activation);
        let (reads, n_logits) = (self.architecture.reads, self.architecture.n_logits());
        let answers = self.answers();
        let values = &mut *self.values;
        let Some(block) = values.blocks.last() else {
            return;
        };
        let rows = match reads {
            Reads::Position => row..row + 1,
            Reads::Mean | Reads::Every => 0..p,
        };
        let output = &block.output()[rows.start * width..rows.end * width];
        let output = match places.last_norm {
            Some(place) => {
                norms.normalize(&mut values.last_norm, Some(output), rows.len(), place);
                &values.last_norm.output[..]
            }
            None => output,
        };
        let read = &mut values.read[..answers * width];
        if reads == Reads::Mean {
            read.fill([0.0; L]);
            for (row, share) in output.chunks_exact(width).zip(values.shares.iter()) {
                for (sum, value) in read.iter_mut().zip(row) {
                    for l in 0..L {
                        sum[l] += share[l] * value[l];
                    }
                }
            }
        } else {
            read.copy_from_slice(&output[..answers * width]);
        }
        let (mut input, mut input_width) = (&*read, width);
        if let Some(place) = places.classifier_hidden {
            let stride = padded(place.weight.columns);
            let output = &mut values.hidden.output;
            apply(set, parameters, place, answers, read, width, output);
            activate(set, activation, &mut values.hidden, answers * stride);
            (input, input_width) = (&values.hidden.output[..answers * stride], stride);
        }
        let place = places.classifier;
        let rows = &mut values.logit_rows[..answers * place.weight.stride];
        apply(set, parameters, place, answers, input, input_width, rows);
        let rows = rows.chunks_exact(place.weight.stride);
        for (row, logits) in rows.zip(values.logits.chunks_exact_mut(n_logits)) {
            logits.copy_from_slice(&row[..n_logits]);
        }
        // Positions that are not computed have no logits.
        values.logits[answers * n_logits..].fill([0.0; L]);
    }

    /// From the gradient of the logits to that of the last block's output, in the first rows of `d_stream`.
    pub(super) fn through_read(&mut self, sums: &mut Sums<'_>) {
        let Sizes { p, width, .. } = self.sizes();
        let (norms, parameters, set) = (self.norms(), self.parameters, self.instructions);
        let (places, activation) = (self.places, self.architecture.model.activation);
        let (reads, n_logits) = (self.architecture.reads, self.architecture.n_logits());
        let answers = self.answers();
        let values = &mut *self.values;
        let place = places.classifier;
        let read = &values.read[..answers * width];
        let d_read = &mut values.d_read[..answers * width];
        let hidden = places.classifier_hidden;
        let (input, gradient, input_width) = match hidden {
            Some(hidden) => {
                let stride = padded(hidden.weight.columns);
                let gradient = &mut values.d_classifier_hidden[..answers * stride];
                (&values.hidden.output[..answers * stride], gradient, stride)
            }
            None => (read, &mut *d_read, width),
        };
        let stride = place.weight.stride;
        let rows = &mut values.logit_rows[..answers * stride];
        let d_logits = values.d_logits.chunks_exact(n_logits);
        for (row, d_logits) in rows.chunks_exact_mut(stride).zip(d_logits) {
            row[..n_logits].copy_from_slice(d_logits);
            row[n_logits..].fill([0.0; L]);
        }
        gradient.fill([0.0; L]);
        let weights = weights_of(parameters, place);
        project_back(
            set,
            answers,
            weights,
            0..n_logits,
            rows,
            input_width,
            gradient,
        );
        let additions = &mut *self.additions;
        additions.input(set, input, input_width);
        additions.one_by_one();
        additions.linear(set, rows, stride, place, sums);
        if let Some(hidden) = hidden {
            let gradient = &mut values.d_classifier_hidden[..answers * input_width];
            through_activation(set, activation, &values.hidden, gradient);
            let additions = &mut *self.additions;
            additions.input(set, read, width);
            additions.linear(set, gradient, input_width, hidden, sums);
            let weights = weights_of(parameters, hidden);
            d_read.fill([0.0; L]);
            let count = hidden.weight.columns;
            project_back(set, answers, weights, 0..count, gradient, width, d_read);
        }
        let rows = if reads == Reads::Position { 1 } else { p };
        let stream = &mut values.d_stream[..rows * width];
        if reads == Reads::Mean {
            for (row, share) in stream.chunks_exact_mut(width).zip(values.shares.iter()) {
                for (value, gradient) in row.iter_mut().zip(&*d_read) {
                    for l in 0..L {
                        value[l] = share[l] * gradient[l];
                    }
                }
            }
        } else {
            stream.copy_from_slice(d_read);
        }
        if let Some(place) = places.last_norm {
            norms.through(
                &values.last_norm,
                rows,
                place,
                stream,
                (self.additions, sums),
            );
        }
    }
}
