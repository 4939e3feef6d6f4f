//! A forward pass with everything that it computes.

use crate::architecture::Architecture;
use crate::arrays::{Array, Arrays, Dims};
use crate::engine::GeneralEngine;
use crate::hook::{Hook, HookPoint};
use crate::interventions::Intervention;
use crate::lanes::{LANES, Lanes, ZERO};
use crate::parameters::padded;
use crate::samples::{BatchPredictions, Samples};
use crate::training::CrossEntropy;

/// Everything that a model computes for some samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForwardValues {
    /// The extents of its arrays.
    pub dims: Dims,
    /// Logits, probabilities, losses, and the attention of the readout position in the last layer.
    pub predictions: BatchPredictions,
    /// Which keys each query may look at; empty if every query may look at all. `[sample, query, key]`
    pub mask: Vec<bool>,
    /// The values of each array that was recorded.
    pub arrays: Arrays,
}

impl ForwardValues {
    /// The values of an array that was recorded, at an index for each of some of its axes, from the first on.
    ///
    /// # Panics
    /// When the array has no such indices, or was not recorded.
    pub fn at(&self, array: Array, indices: &[usize]) -> &[f32] {
        let shape = array.shape(self.dims);
        let (outer, inner) = shape.split_at(indices.len());
        let (index, size) = (
            outer
                .iter()
                .zip(indices)
                .fold(0, |index, (extent, at)| index * extent + at),
            inner.iter().product::<usize>(),
        );
        &self.arrays[array][index * size..][..size]
    }
}

/// What a forward pass records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// Everything.
    All,
    /// Predictions and the arrays of pairs; the other arrays stay empty.
    Attention,
    /// Predictions alone.
    Predictions,
}

impl Recording {
    /// The arrays that are recorded of models with these extents.
    pub fn arrays(self, dims: Dims) -> impl Iterator<Item = Array> {
        let existing = Array::ALL
            .into_iter()
            .filter(move |array| array.exists(dims));
        existing.filter(move |&array| self.has(array))
    }

    fn has(self, array: Array) -> bool {
        match self {
            Self::All => true,
            Self::Attention => array.is_of_pairs(),
            Self::Predictions => false,
        }
    }
}

/// Forward passes of one architecture, which share their memory: of many steps of a training, for example.
#[derive(Clone, Debug)]
pub struct Tracer {
    architecture: Architecture,
    engine: GeneralEngine,
}

impl Tracer {
    /// The architecture.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Memory for the passes.
    pub fn new(architecture: &Architecture) -> Self {
        Self {
            engine: GeneralEngine::new(architecture, CrossEntropy::default()),
            architecture: architecture.clone(),
        }
    }

    /// Computes some samples with interventions, and what is recorded on the way.
    ///
    /// # Errors
    /// When an intervention does not suit the architecture.
    ///
    /// # Panics
    /// When there are fewer than [`Architecture::parameter_count`] parameters, or when the index of a sample or one of its tokens
    /// is out of range, or, with several logits, a label.
    pub fn forward(
        &mut self,
        parameters: &[f32],
        samples: Samples<'_>,
        chosen: &[u32],
        interventions: &[Intervention],
        recorded: Recording,
    ) -> Result<ForwardValues, String> {
        let architecture = &self.architecture;
        for intervention in interventions {
            intervention.check(architecture, chosen.len())?;
        }
        let parameters = self.engine.layout().pack(parameters);
        let mut recorder = Recorder {
            forward: ForwardValues::empty(architecture, chosen.len(), recorded),
            architecture,
            interventions,
            first: 0,
            lanes: 0,
            mask: Vec::new(),
            stream: Vec::new(),
        };
        for chunk in chosen.chunks(LANES) {
            recorder.lanes = chunk.len();
            let predictions = &mut BatchPredictions::default();
            self.engine
                .trace(&parameters, samples, chunk, &mut recorder, predictions);
            recorder.forward.predictions.append(predictions);
            recorder.first += chunk.len();
        }
        Ok(recorder.forward)
    }

    /// The gradient of `Σ_k slope_k z_k` by the embedding of the token at each position, for each of some samples, with a slope
    /// for each of its logits, those of an answer after those of the one before. A position's own embedding and a norm of the
    /// embeddings, if the model has them, come after the token's. `[sample, position, d_model]`
    ///
    /// If `holds_weights`, all attention weights count as constants: the gradient then says how the logits follow from what
    /// positions hold, and not how the model would look elsewhere (Jain and Wallace 2019).
    ///
    /// # Panics
    /// When `slopes` does not have a number for each logit of each sample, or as [`forward`](Self::forward).
    pub fn token_gradients(
        &mut self,
        parameters: &[f32],
        samples: Samples<'_>,
        chosen: &[u32],
        slopes: &[f32],
        holds_weights: bool,
    ) -> Vec<f32> {
        let architecture = &self.architecture;
        let (positions, d_model) = (architecture.inputs.positions, architecture.model.d_model);
        let n_logits = architecture.answers() * architecture.n_logits();
        assert!(
            slopes.len() == chosen.len() * n_logits,
            "each sample has {n_logits} slopes"
        );
        let parameters = self.engine.layout().pack(parameters);
        let mut gradients = Vec::with_capacity(chosen.len() * positions * d_model);
        let mut by_lane = vec![ZERO; n_logits];
        for (chosen, slopes) in chosen.chunks(LANES).zip(slopes.chunks(LANES * n_logits)) {
            for (logit, lanes) in by_lane.iter_mut().enumerate() {
                for (lane, slopes) in lanes.iter_mut().zip(slopes.chunks_exact(n_logits)) {
                    *lane = slopes[logit];
                }
            }
            let (engine, samples) = (&mut self.engine, (samples, chosen));
            let (found, _) =
                engine.input_gradient(&parameters, samples, &by_lane, holds_weights, None);
            let rows = || found.chunks_exact(padded(d_model)).take(positions);
            for lane in 0..chosen.len() {
                gradients.extend(rows().flat_map(|row| &row[..d_model]).map(|of| of[lane]));
            }
        }
        gradients
    }
}

impl ForwardValues {
    fn empty(architecture: &Architecture, samples: usize, recorded: Recording) -> Self {
        let dims = architecture.dims(samples);
        let mut arrays = Arrays::default();
        for array in recorded.arrays(dims) {
            arrays[array] = vec![0.0; array.shape(dims).iter().product()];
        }
        let pairs = samples * dims.positions * dims.positions;
        let has_mask = architecture.is_masked() && recorded == Recording::All;
        Self {
            dims,
            mask: vec![false; if has_mask { pairs } else { 0 }],
            arrays,
            ..Self::default()
        }
    }
}

/// Changes the values of a pass as the interventions say, and records them.
struct Recorder<'a> {
    forward: ForwardValues,
    architecture: &'a Architecture,
    interventions: &'a [Intervention],
    /// The first sample of the pass among all samples, and how many the pass has.
    first: usize,
    lanes: usize,
    /// The mask before interventions.
    mask: Vec<Lanes>,
    /// The present layer's input.
    stream: Vec<Lanes>,
}

impl Hook for Recorder<'_> {
    fn visit(&mut self, point: HookPoint, values: &mut [Lanes]) {
        if !self.interventions.is_empty() {
            self.change(point, values);
        }
        self.record(point, values);
    }
}

impl Recorder<'_> {
    fn change(&mut self, point: HookPoint, values: &mut [Lanes]) {
        if let HookPoint::Mask(layer) = point {
            // Every layer starts from the architecture's own mask.
            if layer == 0 {
                self.mask = values.to_vec();
            } else {
                values.copy_from_slice(&self.mask);
            }
        }
        for intervention in self.interventions {
            let chunk = self.first..self.first + self.lanes;
            intervention.change(point, values, &self.stream, chunk, self.architecture);
        }
        if let HookPoint::Vectors(Array::Embeddings | Array::Output, _) = point {
            self.stream = values.to_vec();
        }
    }

    fn record(&mut self, point: HookPoint, values: &[Lanes]) {
        let Dims {
            heads, positions, ..
        } = self.forward.dims;
        match point {
            HookPoint::Mask(_) => self.record_mask(values),
            HookPoint::Pairs(array, layer, head) => {
                let matrix = [positions, positions];
                self.copy(array, layer * heads + head, matrix, values, positions);
            }
            HookPoint::Vectors(array, layer) => {
                let axes = array.axes();
                let heads = if axes.contains(&"head") { heads } else { 1 };
                let columns = axes.last().map_or(0, |axis| self.forward.dims.extent(axis));
                let width = padded(heads * columns);
                for head in 0..heads {
                    let (head_values, matrix) = (&values[head * columns..], [positions, columns]);
                    self.copy(array, layer * heads + head, matrix, head_values, width);
                }
            }
        }
    }

    /// Records the mask before interventions.
    fn record_mask(&mut self, values: &[Lanes]) {
        let allowed = if self.interventions.is_empty() {
            values
        } else {
            &self.mask
        };
        let pairs = self.forward.dims.positions.pow(2);
        let masks = self.forward.mask.chunks_exact_mut(pairs);
        let masks = masks.skip(self.first).take(self.lanes);
        for (lane, mask) in masks.enumerate() {
            for (may, lanes) in mask.iter_mut().zip(allowed) {
                *may = lanes[lane] != 0.0;
            }
        }
    }

    /// Copies a matrix of each lane into the array of the lane's sample, at an index that counts such matrices.
    /// `stride` is the distance between two rows of `values`.
    fn copy(
        &mut self,
        array: Array,
        index: usize,
        [rows, columns]: [usize; 2],
        values: &[Lanes],
        stride: usize,
    ) {
        let into = &mut self.forward.arrays[array];
        if into.is_empty() {
            return; // It is not recorded.
        }
        let each = into.len() / self.forward.dims.samples;
        let start = index * rows * columns;
        for lane in 0..self.lanes {
            let sample = (self.first + lane) * each;
            let matrix = &mut into[sample + start..][..rows * columns];
            for (row, numbers) in matrix.chunks_exact_mut(columns).enumerate() {
                for (number, value) in numbers.iter_mut().zip(&values[row * stride..]) {
                    *number = value[lane];
                }
            }
        }
    }
}
