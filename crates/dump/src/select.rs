//! Some samples of a dump.

use crate::arrays::{ARRAYS, Field, Fill, Read};
use crate::{AttentionDump, Dims, Meta};

impl AttentionDump {
    /// The dump of these samples alone, in this order.
    ///
    /// # Panics
    /// When there is no such sample.
    #[must_use]
    pub fn select(&self, samples: &[usize]) -> Self {
        let mut part = Self {
            dims: Dims {
                samples: samples.len(),
                ..self.dims
            },
            meta: Meta {
                samples: rows(&self.meta.samples, samples, self.dims.samples),
                label_positions: rows(&self.meta.label_positions, samples, self.dims.samples),
                ..self.meta.clone()
            },
            ..Self::default()
        };
        for array in ARRAYS {
            match array.field {
                Field::Integers(read, fill) => copy(self, read, &mut part, fill, samples),
                Field::Floats(read, fill) => copy(self, read, &mut part, fill, samples),
                Field::Booleans(read, fill) => copy(self, read, &mut part, fill, samples),
            }
        }
        part
    }
}

/// Copies the rows of one array, if the dump has it.
fn copy<T: Clone>(
    from: &AttentionDump,
    read: Read<T>,
    to: &mut AttentionDump,
    fill: Fill<T>,
    samples: &[usize],
) {
    if let Some(values) = read(from) {
        *fill(to) = rows(values, samples, from.dims.samples);
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
