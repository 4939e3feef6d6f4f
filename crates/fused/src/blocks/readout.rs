//! From the last block's output to logits, and back: the norm of the output, if there is one; the vector that the classifier
//! reads, which is that of a position or the mean over all that are not padding, or the vectors of all positions, each for an
//! answer of its own; the classifier's hidden layer, if it has one; the classifier.

use super::hidden::{activate, through_activation};
use super::pass::{Pass, Sizes, apply, weights_of};
use super::places::padded;
use super::products::project_back;
use super::{Chunk, classifier};
use crate::adam::Sums;
use crate::architecture::Reads;
use crate::lanes::{LANES, ZERO};

impl Pass<'_> {
    /// The answers that are computed.
    pub(super) fn answers(&self) -> usize {
        match self.architecture.reads {
            Reads::Position | Reads::Mean => 1,
            Reads::Every => self.positions,
        }
    }

    /// The share of each position in the mean that the classifier reads.
    pub(super) fn share_positions(&mut self, chunk: Chunk<'_>) {
        let padding = self.architecture.padding_token;
        let shares = &mut self.values.shares;
        let mut count = ZERO;
        for (position, share) in shares.iter_mut().enumerate() {
            for lane in 0..LANES {
                let is_read = Some(chunk.token(lane, position)) != padding;
                share[lane] = f32::from(u8::from(is_read));
                count[lane] += share[lane];
            }
        }
        for share in shares {
            for l in 0..LANES {
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
        let Sizes { p, width, d, .. } = self.sizes();
        let (norms, parameters, set) = (self.norms(), self.parameters, self.instructions);
        let (places, activation) = (self.places, self.architecture.activation);
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
            read.fill(ZERO);
            for (row, share) in output.chunks_exact(width).zip(&values.shares) {
                for (sum, value) in read.iter_mut().zip(row) {
                    for l in 0..LANES {
                        sum[l] += share[l] * value[l];
                    }
                }
            }
        } else {
            read.copy_from_slice(&output[..answers * width]);
        }
        let (mut input, mut input_width, mut count) = (&*read, width, d);
        if let Some(place) = places.classifier_hidden {
            let stride = padded(place.weight.columns);
            let output = &mut values.hidden.output;
            apply(set, parameters, place, answers, read, width, output);
            activate(set, activation, &mut values.hidden, answers * stride);
            (input, input_width) = (&values.hidden.output[..answers * stride], stride);
            count = place.weight.columns;
        }
        let weight = &parameters[places.classifier.weight.range()];
        let bias = &parameters[places.classifier.bias.range()];
        let logits = values.logits.chunks_exact_mut(n_logits);
        for (input, logits) in input.chunks_exact(input_width).zip(logits) {
            classifier::forward(set, &input[..count], weight, bias, logits);
        }
        // Positions that are not computed have no logits.
        values.logits[answers * n_logits..].fill(ZERO);
    }

    /// From the gradient of the logits to that of the last block's output, in the first rows of `d_stream`.
    pub(super) fn through_read(&mut self, sums: &mut Sums<'_>) {
        let Sizes { p, width, d, .. } = self.sizes();
        let (norms, parameters, set) = (self.norms(), self.parameters, self.instructions);
        let (places, activation) = (self.places, self.architecture.activation);
        let (reads, n_logits) = (self.architecture.reads, self.architecture.n_logits());
        let answers = self.answers();
        let values = &mut *self.values;
        let place = places.classifier;
        let weight = &parameters[place.weight.range()];
        let start = place.weight.range().start;
        let (d_weight, d_bias) = sums.gradient[start..].split_at_mut(weight.len());
        let read = &values.read[..answers * width];
        let d_read = &mut values.d_read[..answers * width];
        let hidden = places.classifier_hidden;
        let (input, gradient, input_width, count) = match hidden {
            Some(hidden) => {
                let (count, stride) = (hidden.weight.columns, padded(hidden.weight.columns));
                let gradient = &mut values.d_classifier_hidden[..answers * stride];
                (&values.hidden.output[..], gradient, stride, count)
            }
            None => (read, &mut *d_read, width, d),
        };
        let rows = input.chunks_exact(input_width);
        let rows = rows.zip(gradient.chunks_exact_mut(input_width));
        for ((input, gradient), d_logits) in rows.zip(values.d_logits.chunks_exact(n_logits)) {
            let input = &input[..count];
            classifier::backward(set, input, weight, d_logits, gradient, d_weight, d_bias);
        }
        if let Some(hidden) = hidden {
            let gradient = &mut values.d_classifier_hidden[..answers * input_width];
            through_activation(set, activation, &values.hidden, gradient);
            values.transposed.input(set, read, width);
            let transposed = &mut values.transposed;
            transposed.add_linear(set, gradient, input_width, hidden, sums);
            let weights = weights_of(parameters, hidden);
            d_read.fill(ZERO);
            project_back(set, answers, weights, 0..count, gradient, width, d_read);
        }
        let rows = if reads == Reads::Position { 1 } else { p };
        let stream = &mut values.d_stream[..rows * width];
        if reads == Reads::Mean {
            for (row, share) in stream.chunks_exact_mut(width).zip(&values.shares) {
                for (value, gradient) in row.iter_mut().zip(&*d_read) {
                    for l in 0..LANES {
                        value[l] = share[l] * gradient[l];
                    }
                }
            }
        } else {
            stream.copy_from_slice(d_read);
        }
        if let Some(place) = places.last_norm {
            norms.through(&values.last_norm, rows, place, stream, sums);
        }
    }
}
