//! The forward pass for eight samples: embeddings, blocks, classifier.
//!
//! The first block's input is, for each position, the token's row of the embedding plus the position's; after a norm, if the
//! architecture has one there. `attention`, `read_row`, `sublayers`, `readout` and `loss` derive what follows.
//!
//! Where the classifier reads one position, the last block computes the row of that position alone.

use std::ops::Range;

use super::embedding;
use super::norm;
use super::pass::Pass;
use super::probe::{Site, reach};
use crate::arrays::Array;
use crate::chunk::Chunk;
use crate::samples::IGNORED;
use headlight_architecture::Reads;

impl<const L: usize> Pass<'_, L> {
    /// From tokens to losses. If `whole`, the last block computes all rows.
    pub(super) fn forward(&mut self, chunk: Chunk<'_>, whole: bool) {
        self.kernel.p = if whole || self.probe.is_some() {
            self.architecture.inputs.positions
        } else {
            self.held_positions(chunk)
        };
        self.embed(chunk);
        let site = Site::Vectors(Array::Embeddings, 0);
        reach(&mut self.probe, site, &mut self.values.embeddings);
        self.allow(chunk);
        self.share_positions(chunk);
        let (last, positions) = (self.architecture.model.n_layers - 1, self.kernel.p);
        for layer in 0..self.architecture.model.n_layers {
            let is_whole = layer < last || whole;
            self.start_block(layer);
            if is_whole {
                reach(&mut self.probe, Site::Mask(layer), &mut self.values.may);
            }
            let rows = if is_whole {
                0..positions
            } else {
                self.last_rows()
            };
            if is_whole || !self.architecture.folds_keys() {
                self.attend(layer, rows.clone());
            } else {
                self.attend_from_read_row(layer);
            }
            self.finish_block(layer, &rows);
            if is_whole {
                let output = self.values.blocks[layer].output_mut();
                let site = Site::Vectors(Array::Output, layer);
                reach(&mut self.probe, site, output);
            }
        }
        let row = if whole {
            self.architecture.inputs.read_position
        } else {
            0
        };
        self.read(row);
        self.assess(chunk);
    }

    /// The rows that the classifier needs of the last block.
    pub(super) fn last_rows(&self) -> Range<usize> {
        let read = self.architecture.inputs.read_position;
        match self.architecture.reads {
            Reads::Position => read..read + 1,
            Reads::Mean | Reads::Every => 0..self.kernel.p,
        }
    }

    /// The positions that some sample holds. What follows has no weight in any sum.
    fn held_positions(&self, chunk: Chunk<'_>) -> usize {
        let held = (0..chunk.chosen.len()).map(|lane| self.held_by(chunk, lane));
        held.max()
            .filter(|&held| held > 0)
            .unwrap_or(self.architecture.inputs.positions)
    }

    /// The positions of a sample up to the last one that holds no padding, that is read, or whose label counts.
    pub(super) fn held_by(&self, chunk: Chunk<'_>, lane: usize) -> usize {
        let positions = self.architecture.inputs.positions;
        let Some(padding) = self.architecture.model.attention.padding_token else {
            return positions;
        };
        let (reads, read) = (
            self.architecture.reads,
            self.architecture.inputs.read_position,
        );
        let is_held = |&position: &usize| match reads {
            _ if chunk.token(lane, position) != padding => true,
            Reads::Position | Reads::Mean => position == read,
            Reads::Every => chunk.label(lane, position, positions) != IGNORED,
        };
        let last = (0..positions).rev().find(is_held);
        last.map_or(0, |last| last + 1)
    }

    fn embed(&mut self, chunk: Chunk<'_>) {
        let (k, places, values) = (self.kernel, self.places, &mut *self.values);
        let embeddings = &mut values.embeddings[..k.p * k.width];
        let positions = places.positions.map_or(&[][..], |matrix| k.numbers(matrix));
        let tokens = k.numbers(places.tokens);
        embedding::forward(k.set, chunk, tokens, positions, k.width, embeddings);
        if let Some(place) = places.first_norm {
            norm::normalize(k, &mut values.first_norm, Some(embeddings), k.p, place);
            embeddings.copy_from_slice(&values.first_norm.output[..k.p * k.width]);
        }
    }

    /// Which keys each query may look at.
    fn allow(&mut self, chunk: Chunk<'_>) {
        let (positions, all) = (self.kernel.p, self.architecture.inputs.positions);
        if self.values.may.is_empty() {
            return;
        }
        for key in 0..positions {
            let mut seen = [1.0; L];
            if let Some(padding) = self.architecture.model.attention.padding_token {
                for lane in 0..L {
                    seen[lane] = if chunk.token(lane, key) == padding {
                        0.0
                    } else {
                        1.0
                    };
                }
            }
            for query in 0..positions {
                let mask = self.architecture.mask.as_ref();
                let open = mask.is_none_or(|mask| mask[query * all + key]);
                self.values.may[query * positions + key] = if open { seen } else { [0.0; L] };
            }
        }
    }
}
