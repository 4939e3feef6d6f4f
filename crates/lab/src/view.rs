//! A model that computes some samples with any weights.

use headlight_data::Dataset;
use headlight_experiment::Error;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{
    Dims, ForwardValues, FrozenModel, Intervention, Recording, dims,
};
use headlight_experiment::metrics::rounded_probabilities;

/// An array: its name, its length, and its axes with their extents.
pub(crate) type LabDescription = (&'static str, usize, Vec<(&'static str, usize)>);

/// A model that computes some samples.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) frozen: FrozenModel,
    pub(crate) samples: Dataset,
    chosen: Vec<u32>,
    interventions: Vec<Intervention>,
    dims: Dims,
}

impl View {
    /// A config's model for some samples.
    pub(crate) fn new(
        config: &ExperimentConfig,
        samples: Dataset,
        interventions: Vec<Intervention>,
    ) -> Result<Self, Error> {
        Ok(Self {
            frozen: FrozenModel::new(config)?,
            chosen: (0..samples.len() as u32).collect(),
            dims: dims(config, samples.len())?,
            samples,
            interventions,
        })
    }

    /// The arrays that [`append`](Self::append) gives, in its order.
    pub(crate) fn arrays(&self, recorded: Recording) -> Vec<LabDescription> {
        let described = |name, axes: &'static [&'static str]| {
            let axes: Vec<_> = axes.iter().copied().zip(self.dims.shape(axes)).collect();
            (name, axes.iter().map(|(_, extent)| extent).product(), axes)
        };
        let logits = ["probabilities", "logits"].into_iter();
        let logits = logits.map(|name| described(name, self.dims.axes_of_logits()));
        let arrays = recorded.arrays(self.dims);
        let arrays = arrays.map(|array| described(array.name(), array.axes()));
        logits.chain(arrays).collect()
    }

    /// What a row holds of a step, besides its weights: names and lengths.
    pub(crate) fn row(&self) -> Vec<(&'static str, usize)> {
        let arrays = self.arrays(Recording::Attention).into_iter();
        arrays.map(|(name, length, _)| (name, length)).collect()
    }

    /// What the model computes.
    pub(crate) fn forward(
        &mut self,
        weights: &[f32],
        recorded: Recording,
    ) -> Result<ForwardValues, Error> {
        let (samples, changes) = (&self.samples, &self.interventions);
        self.frozen
            .forward(weights, samples, &self.chosen, changes, recorded)
    }

    /// Appends what the model computes to some numbers, and returns it.
    pub(crate) fn append(
        &mut self,
        weights: &[f32],
        recorded: Recording,
        numbers: &mut Vec<f32>,
    ) -> Result<ForwardValues, Error> {
        let all = self.forward(weights, recorded)?;
        let logits = &all.predictions.logits;
        // As a dump has them.
        numbers.extend(rounded_probabilities(logits, self.dims.logits));
        numbers.extend_from_slice(logits);
        for array in recorded.arrays(self.dims) {
            numbers.extend_from_slice(&all.arrays[array]);
        }
        Ok(all)
    }
}
