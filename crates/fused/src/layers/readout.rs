//! From the last layer's output to logits, and back: the norm of the output, if there is one; the vector that the classifier
//! reads, which is that of a position or the mean over all that are not padding, or the vectors of all positions, each for an
//! answer of its own; the classifier's hidden layer, if it has one; the classifier.

use std::ops::Range;

use headlight_architecture::Readout;

use super::activation::{activate, backward_activation};
use crate::chunk::Chunk;
use crate::lanes::zip;
use crate::pass::Pass;

impl<const L: usize> Pass<'_, L> {
    /// The answers that are computed.
    pub(crate) fn answers(&self) -> usize {
        match self.architecture.readout {
            Readout::Position | Readout::Mean => 1,
            Readout::Every => self.positions,
        }
    }

    /// The share of each position in the mean that the classifier reads.
    pub(crate) fn average_positions(&mut self, chunk: Chunk<'_>) {
        let padding = self.architecture.model.attention.padding_token;
        let shares = &mut self.values.readout.shares;
        let mut count = [0.0; L];
        for (position, share) in shares.iter_mut().enumerate() {
            for lane in 0..L {
                let is_read = Some(chunk.token(lane, position)) != padding;
                share[lane] = f32::from(u8::from(is_read));
                count[lane] += share[lane];
            }
        }
        for share in shares.iter_mut() {
            *share = zip(
                *share,
                count,
                |share, count| if count > 0.0 { share / count } else { 0.0 },
            );
        }
    }

    /// From the last layer's output, whose rows are those of some positions, to what the classifier reads.
    pub(crate) fn read(&mut self, positions: Range<usize>) {
        let (k, width, answers) = (self.kernel, self.kernel.sizes.width, self.answers());
        let readout = self.architecture.readout;
        let (layers, values) = (&self.values.layers, &mut self.values.readout);
        let Some(layer) = layers.last() else {
            return;
        };
        let start = match readout {
            Readout::Position => self.architecture.inputs.read_position - positions.start,
            Readout::Mean | Readout::Every => 0,
        };
        let rows = self.architecture.last_rows(self.positions).len();
        let mut output = &layer.output()[start * width..][..rows * width];
        if let Some(slots) = self.layout.final_norm {
            values.final_norm.forward_of(k, slots, output);
            output = &values.final_norm.output;
        }
        let read = &mut values.read[..answers * width];
        if readout == Readout::Mean {
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
    }

    /// From what the classifier reads to the logits.
    pub(crate) fn classify(&mut self) {
        let (k, layout, answers) = (self.kernel, self.layout, self.answers());
        let n_logits = self.architecture.n_logits();
        let activation = self.architecture.model.activation;
        let (values, logits) = (&mut self.values.readout, &mut self.values.answers.logits);
        let mut input = &values.read[..answers * k.sizes.width];
        if let Some(slots) = layout.classifier_hidden {
            let count = answers * slots.weight.stride;
            k.project(slots, input, &mut values.hidden.output);
            activate(k.isa, activation, &mut values.hidden, count);
            input = &values.hidden.output[..count];
        }
        let stride = layout.classifier.weight.stride;
        let rows = &mut values.rows[..answers * stride];
        k.project(layout.classifier, input, rows);
        for (row, logits) in rows
            .chunks_exact(stride)
            .zip(logits.chunks_exact_mut(n_logits))
        {
            logits.copy_from_slice(&row[..n_logits]);
        }
        // Positions that are not computed have no logits.
        logits[answers * n_logits..].fill([0.0; L]);
    }

    /// From the gradient of the logits to that of what the classifier reads.
    pub(crate) fn backward_classifier(&mut self) {
        let (k, layout, answers) = (self.kernel, self.layout, self.answers());
        let n_logits = self.architecture.n_logits();
        let activation = self.architecture.model.activation;
        let (values, gradients) = (&mut self.values.readout, &mut self.gradients);
        let (slots, width) = (layout.classifier, k.sizes.width);
        let rows = &mut values.rows[..answers * slots.weight.stride];
        let d_logits = self.values.answers.d_logits.chunks_exact(n_logits);
        for (row, d_logits) in rows.chunks_exact_mut(slots.weight.stride).zip(d_logits) {
            row[..n_logits].copy_from_slice(d_logits);
            row[n_logits..].fill([0.0; L]);
        }
        let read = &values.read[..answers * width];
        let d_read = &mut values.d_read[..answers * width];
        let Some(hidden_slots) = layout.classifier_hidden else {
            let input = gradients.input(read, width).one_by_one();
            gradients.linear(input, rows, slots);
            k.project_back(slots, rows, d_read, false);
            return;
        };
        let hidden_width = hidden_slots.weight.stride;
        let hidden = &values.hidden;
        let d_hidden = &mut values.d_hidden[..answers * hidden_width];
        let input = gradients.input(&hidden.output[..d_hidden.len()], hidden_width);
        gradients.linear(input.one_by_one(), rows, slots);
        k.project_back(slots, rows, d_hidden, false);
        backward_activation(k.isa, activation, hidden, d_hidden);
        let input = gradients.input(read, width);
        gradients.linear(input, d_hidden, hidden_slots);
        k.project_back(hidden_slots, d_hidden, d_read, false);
    }

    /// From the gradient of what the classifier reads to that of the last layer's output, in the first rows of `d_layer.stream`.
    pub(crate) fn backward_read(&mut self) {
        let (width, readout) = (self.kernel.sizes.width, self.architecture.readout);
        let rows = self.architecture.last_rows(self.positions).len();
        let (values, d_read) = (&self.values.readout, self.answers() * width);
        let d_read = &values.d_read[..d_read];
        let stream = &mut self.values.d_layer.stream[..rows * width];
        if readout == Readout::Mean {
            for (row, share) in stream.chunks_exact_mut(width).zip(values.shares.iter()) {
                for (value, gradient) in row.iter_mut().zip(d_read) {
                    *value = zip(*share, *gradient, |share, gradient| share * gradient);
                }
            }
        } else {
            stream.copy_from_slice(d_read);
        }
        if let Some(slots) = self.layout.final_norm {
            values
                .final_norm
                .backward(self.kernel, slots, stream, &mut self.gradients);
        }
    }
}
