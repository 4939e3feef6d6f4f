//! Batches, in an order that depends on the seed and the epoch alone.

use crate::dataset::Dataset;
use crate::random::{Stream, shuffle};

/// Samples of a dataset in the form that a model takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Row-major token ids. `[batch, position]`
    pub tokens: Vec<i32>,
    /// The class of each sample, or of each of its positions; [`IGNORED`](crate::IGNORED) where none counts. `[batch]` or
    /// `[batch, position]`
    pub labels: Vec<u32>,
    /// How much each label counts in the loss of training; empty if all count alike.
    pub weights: Vec<f32>,
    /// Positions per sample, including `[CLS]`.
    pub positions: usize,
}

impl Batch {
    /// The samples of `dataset` with these indices.
    pub fn gather(dataset: &Dataset, samples: &[u32]) -> Self {
        let mut batch = Self {
            tokens: Vec::with_capacity(samples.len() * dataset.positions()),
            labels: Vec::with_capacity(samples.len() * dataset.labels_per_sample()),
            weights: Vec::new(),
            positions: dataset.positions(),
        };
        for &sample in samples {
            let tokens = dataset.tokens(sample as usize);
            batch
                .tokens
                .extend(tokens.iter().map(|&token| token.cast_signed()));
            batch.labels.extend(dataset.labels_of(sample as usize));
            batch.weights.extend(dataset.weights_of(sample as usize));
        }
        batch
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.tokens.len() / self.positions.max(1)
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }
}

/// The batches of one epoch.
#[derive(Clone, Debug)]
pub struct Batches {
    order: Vec<u32>,
    batch_size: usize,
}

impl Batches {
    /// The samples of `dataset` in order.
    ///
    /// # Panics
    /// When `batch_size` is 0.
    pub fn in_order(dataset: &Dataset, batch_size: usize) -> Self {
        Self::of_order((0..dataset.len() as u32).collect(), batch_size)
    }

    /// The samples of `dataset`, reshuffled for `epoch`.
    ///
    /// Each epoch starts at its own place in the [`Shuffle`](Stream::Shuffle) stream, and shuffles
    /// the samples from their original order: the result depends on the seed and the epoch alone.
    ///
    /// # Panics
    /// When `batch_size` is 0.
    pub fn shuffled(dataset: &Dataset, batch_size: usize, seed: u64, epoch: usize) -> Self {
        let mut batches = Self::in_order(dataset, batch_size);
        shuffle(&mut batches.order, &mut Stream::Shuffle.rng_at(seed, epoch));
        batches
    }

    /// Samples in an order that the caller gives, such as a recorded one.
    ///
    /// # Panics
    /// When `batch_size` is 0.
    pub fn of_order(order: Vec<u32>, batch_size: usize) -> Self {
        assert!(batch_size > 0, "batch_size is 0; a batch needs a sample");
        Self { order, batch_size }
    }

    /// Indices of the samples of each batch; the last batch may be smaller.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> + Clone {
        self.order.chunks(self.batch_size)
    }

    /// Number of batches.
    pub fn len(&self) -> usize {
        self.order.len().div_ceil(self.batch_size)
    }

    /// Whether there are no batches.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}
