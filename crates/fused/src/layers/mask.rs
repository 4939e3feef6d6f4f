//! Masks: which keys each query may look at, by the model's mask, by padding, and as interventions leave it.

use std::ops::Range;

use crate::chunk::Chunk;
use crate::instructions::for_each_isa;
use crate::lanes::{Lanes, larger, log, zip};
use crate::pass::Pass;
use crate::values::MaskValues;

impl<const L: usize> MaskValues<L> {
    /// The rows of some queries; empty if every query may look at every key.
    #[inline(always)]
    pub(crate) fn rows(&self, queries: Range<usize>, keys: usize) -> &[Lanes<L>] {
        let rows = self.allowed.get(queries.start * keys..queries.end * keys);
        rows.unwrap_or_default()
    }

    /// 1 where a query may look at a key, else 0.
    pub(crate) fn has_key(&self, query: usize, keys: usize) -> Lanes<L> {
        match self.rows(query..query + 1, keys) {
            [] => [1.0; L],
            row => row.iter().fold([0.0; L], |has, may| zip(*may, has, larger)),
        }
    }

    /// Counts the keys of each query; the logarithm is 0 for none.
    pub(crate) fn count_keys(&mut self, keys: usize) {
        for query in 0..keys.min(self.log_counts.len()) {
            let count = match self.rows(query..query + 1, keys) {
                [] => [keys as f32; L],
                row => row
                    .iter()
                    .fold([0.0; L], |count, may| zip(count, *may, |a, b| a + b)),
            };
            self.log_counts[query] = count.map(|count| if count > 1.0 { log(count) } else { 0.0 });
        }
    }
}

impl<const L: usize> Pass<'_, L> {
    /// Which keys each query may look at, before interventions.
    pub(crate) fn fill_mask(&mut self, chunk: Chunk<'_>) {
        let (positions, all) = (self.positions, self.architecture.inputs.positions);
        let padding = self.architecture.model.attention.padding_token;
        let allowed = &mut self.values.mask.allowed;
        if allowed.is_empty() {
            return;
        }
        for key in 0..positions {
            let is_held = |lane| padding.is_none_or(|padding| chunk.token(lane, key) != padding);
            let held = std::array::from_fn(|lane| f32::from(u8::from(is_held(lane))));
            for query in 0..positions {
                let mask = self.architecture.mask.as_ref();
                let is_open = mask.is_none_or(|mask| mask[query * all + key]);
                allowed[query * positions + key] = if is_open { held } else { [0.0; L] };
            }
        }
    }
}

for_each_isa! {
    /// Sets the numbers of keys that a query may not look at to 0. The rows of `allowed` are used again from the first.
    pub(crate) fn mask_scores<'a, L>(rows: &'a mut [Lanes<L>], allowed: &'a [Lanes<L>]) {
        if allowed.is_empty() {
            return;
        }
        for rows in rows.chunks_mut(allowed.len()) {
            for (value, allowed) in rows.iter_mut().zip(allowed) {
                *value = zip(*value, *allowed, |value, allowed| if allowed == 0.0 { 0.0 } else { value });
            }
        }
    }
}
