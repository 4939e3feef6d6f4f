//! From the last block's output to logits, and back: the norm of the output, if there is one; the vector that the classifier
//! reads, which is that of a position or the mean over all that are not padding; the classifier's hidden layer, if it has one;
//! the classifier.

use super::hidden::{activate, through_activation};
use super::pass::{Pass, Sizes, apply, weights_of};
use super::places::padded;
use super::products::project_back;
use super::{Chunk, classifier};
use crate::adam::Sums;
use crate::lanes::{LANES, ZERO};

impl Pass<'_> {
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
        let values = &mut *self.values;
        let Some(block) = values.blocks.last() else {
            return;
        };
        let rows = if values.shares.is_empty() {
            row..row + 1
        } else {
            0..p
        };
        let output = &block.output()[rows.start * width..rows.end * width];
        let output = match places.last_norm {
            Some(place) => {
                norms.normalize(&mut values.last_norm, Some(output), rows.len(), place);
                &values.last_norm.output[..]
            }
            None => output,
        };
        if values.shares.is_empty() {
            values.read.copy_from_slice(&output[..width]);
        } else {
            values.read.fill(ZERO);
            for (row, share) in output.chunks_exact(width).zip(&values.shares) {
                for (sum, value) in values.read.iter_mut().zip(row) {
                    for l in 0..LANES {
                        sum[l] += share[l] * value[l];
                    }
                }
            }
        }
        let mut input = &values.read[..d];
        if let Some(place) = places.classifier_hidden {
            apply(
                set,
                parameters,
                place,
                1,
                &values.read,
                width,
                &mut values.hidden.output,
            );
            let count = values.hidden.output.len();
            activate(set, activation, &mut values.hidden, count);
            input = &values.hidden.output[..place.weight.columns];
        }
        let weight = &parameters[places.classifier.weight.range()];
        let bias = &parameters[places.classifier.bias.range()];
        classifier::forward(set, input, weight, bias, &mut values.logits);
    }

    /// From the gradient of the logits to that of the last block's output, in the first rows of `d_stream`.
    pub(super) fn through_read(&mut self, sums: &mut Sums<'_>) {
        let Sizes { p, width, d, .. } = self.sizes();
        let (norms, parameters, set) = (self.norms(), self.parameters, self.instructions);
        let (places, activation) = (self.places, self.architecture.activation);
        let values = &mut *self.values;
        let place = places.classifier;
        let weight = &parameters[place.weight.range()];
        let start = place.weight.range().start;
        let (d_weight, d_bias) = sums.gradient[start..].split_at_mut(weight.len());
        let d_logits = &values.d_logits;
        if let Some(hidden) = places.classifier_hidden {
            let count = hidden.weight.columns;
            let (input, gradient) = (
                &values.hidden.output[..count],
                &mut values.d_classifier_hidden,
            );
            classifier::backward(set, input, weight, d_logits, gradient, d_weight, d_bias);
            through_activation(set, activation, &values.hidden, gradient);
            values.transposed.input(set, &values.read, width);
            values
                .transposed
                .add_linear(set, gradient, padded(count), hidden, sums);
            let weights = weights_of(parameters, hidden);
            values.d_read.fill(ZERO);
            project_back(
                set,
                1,
                weights,
                0..count,
                gradient,
                width,
                &mut values.d_read,
            );
        } else {
            let (input, gradient) = (&values.read[..d], &mut values.d_read);
            classifier::backward(set, input, weight, d_logits, gradient, d_weight, d_bias);
        }
        let rows = if values.shares.is_empty() { 1 } else { p };
        let stream = &mut values.d_stream[..rows * width];
        if values.shares.is_empty() {
            stream.copy_from_slice(&values.d_read);
        } else {
            for (row, share) in stream.chunks_exact_mut(width).zip(&values.shares) {
                for (value, gradient) in row.iter_mut().zip(&values.d_read) {
                    for l in 0..LANES {
                        value[l] = share[l] * gradient[l];
                    }
                }
            }
        }
        if let Some(place) = places.last_norm {
            norms.through(&values.last_norm, rows, place, stream, sums);
        }
    }
}
