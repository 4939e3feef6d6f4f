//! From the last block's output to logits, and back: the norm of the output, if there is one; the vector that the classifier
//! reads, which is that of a position or the mean over all that are not padding, or the vectors of all positions, each for an
//! answer of its own; the classifier's hidden layer, if it has one; the classifier.

use super::hidden::{activate, through_activation};
use super::norm;
use super::pass::Pass;
use crate::chunk::Chunk;
use headlight_architecture::Reads;

impl<const L: usize> Pass<'_, L> {
    /// The answers that are computed.
    pub(super) fn answers(&self) -> usize {
        match self.architecture.reads {
            Reads::Position | Reads::Mean => 1,
            Reads::Every => self.kernel.p,
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
        let (k, places, answers) = (self.kernel, self.places, self.answers());
        let (reads, n_logits) = (self.architecture.reads, self.architecture.n_logits());
        let values = &mut *self.values;
        let Some(block) = values.blocks.last() else {
            return;
        };
        let rows = match reads {
            Reads::Position => row..row + 1,
            Reads::Mean | Reads::Every => 0..k.p,
        };
        let output = &block.output()[rows.start * k.width..rows.end * k.width];
        let output = match places.last_norm {
            Some(place) => {
                norm::normalize(k, &mut values.last_norm, Some(output), rows.len(), place);
                &values.last_norm.output[..]
            }
            None => output,
        };
        let read = &mut values.read[..answers * k.width];
        if reads == Reads::Mean {
            read.fill([0.0; L]);
            for (row, share) in output.chunks_exact(k.width).zip(values.shares.iter()) {
                for (sum, value) in read.iter_mut().zip(row) {
                    for l in 0..L {
                        sum[l] += share[l] * value[l];
                    }
                }
            }
        } else {
            read.copy_from_slice(&output[..answers * k.width]);
        }
        let mut input = &*read;
        if let Some(place) = places.classifier_hidden {
            let count = answers * place.weight.stride;
            k.apply(place, read, &mut values.hidden.output);
            activate(
                k.set,
                self.architecture.model.activation,
                &mut values.hidden,
                count,
            );
            input = &values.hidden.output[..count];
        }
        let stride = places.classifier.weight.stride;
        let rows = &mut values.logit_rows[..answers * stride];
        k.apply(places.classifier, input, rows);
        for (row, logits) in rows
            .chunks_exact(stride)
            .zip(values.logits.chunks_exact_mut(n_logits))
        {
            logits.copy_from_slice(&row[..n_logits]);
        }
        // Positions that are not computed have no logits.
        values.logits[answers * n_logits..].fill([0.0; L]);
    }

    /// From the gradient of the logits to that of the last block's output, in the first rows of `d_stream`.
    pub(super) fn through_read(&mut self) {
        let (k, places, answers) = (self.kernel, self.places, self.answers());
        let (reads, n_logits) = (self.architecture.reads, self.architecture.n_logits());
        let (values, gradients) = (&mut *self.values, &mut self.gradients);
        let (place, stride) = (places.classifier, places.classifier.weight.stride);
        let read = &values.read[..answers * k.width];
        let d_read = &mut values.d_read[..answers * k.width];
        let rows = &mut values.logit_rows[..answers * stride];
        let d_logits = values.d_logits.chunks_exact(n_logits);
        for (row, d_logits) in rows.chunks_exact_mut(stride).zip(d_logits) {
            row[..n_logits].copy_from_slice(d_logits);
            row[n_logits..].fill([0.0; L]);
        }
        if let Some(hidden) = places.classifier_hidden {
            let (count, width) = (answers * hidden.weight.stride, hidden.weight.stride);
            let gradient = &mut values.d_classifier_hidden[..count];
            k.back(place, rows, gradient, false);
            gradients.input(&values.hidden.output[..count], width);
            gradients.one_by_one();
            gradients.linear(rows, place);
            through_activation(
                k.set,
                self.architecture.model.activation,
                &values.hidden,
                gradient,
            );
            gradients.input(read, k.width);
            gradients.linear(gradient, hidden);
            k.back(hidden, gradient, d_read, false);
        } else {
            k.back(place, rows, d_read, false);
            gradients.input(read, k.width);
            gradients.one_by_one();
            gradients.linear(rows, place);
        }
        let rows = if reads == Reads::Position { 1 } else { k.p };
        let stream = &mut values.d_stream[..rows * k.width];
        if reads == Reads::Mean {
            for (row, share) in stream.chunks_exact_mut(k.width).zip(values.shares.iter()) {
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
            norm::through(k, &values.last_norm, place, stream, gradients);
        }
    }
}
