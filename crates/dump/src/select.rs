//! Some samples of a dump.

use headlight_fused::Arrays;

use crate::{AttentionDump, Dims, Meta};

impl AttentionDump {
    /// The dump of these samples alone, in this order.
    #[must_use]
    pub fn select(&self, samples: &[usize]) -> Self {
        let all = self.dims.samples;
        let mask = self.attention_mask.as_ref();
        Self {
            dims: Dims {
                samples: samples.len(),
                ..self.dims
            },
            meta: Meta {
                samples: rows(&self.meta.samples, samples, all),
                label_positions: rows(&self.meta.label_positions, samples, all),
                ..self.meta.clone()
            },
            tokens: rows(&self.tokens, samples, all),
            labels: rows(&self.labels, samples, all),
            logits: rows(&self.logits, samples, all),
            probabilities: rows(&self.probabilities, samples, all),
            arrays: Arrays::from_fn(|array| rows(&self.arrays[array], samples, all)),
            attention_mask: mask.map(|mask| rows(mask, samples, all)),
        }
    }
}

/// The values of these samples. The first axis of every array is the sample.
fn rows<T: Clone>(values: &[T], samples: &[usize], all: usize) -> Vec<T> {
    let size = values.len() / all.max(1);
    samples
        .iter()
        .flat_map(|&sample| &values[sample * size..(sample + 1) * size])
        .cloned()
        .collect()
}
