//! The model that is measured, and the samples that it is measured on.

use headlight_architecture::Keys;
use headlight_data::Dataset;

use crate::certificate::Certificate;
use headlight_experiment::Error;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{Array, ForwardValues, FrozenModel, Intervention, Recording};
use headlight_experiment::samples_per_pass;

/// The most samples that a Kendall correlation and the removal of a head are means over: the first ones.
pub(super) const MOST_SAMPLES: usize = 1000;

/// The most samples of a pass, whose attention is in memory at once.
const MOST_AT_ONCE: usize = 64;

/// A trained model with the samples that it is measured on.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) config: &'a ExperimentConfig,
    pub(super) frozen: FrozenModel,
    pub(super) weights: &'a [f32],
    pub(super) samples: &'a Dataset,
    /// How the model answers all possible inputs, if that was counted.
    pub(super) certificate: Option<&'a Certificate>,
}

impl<'a> Subject<'a> {
    /// A model of a config with its weights one after the other, and samples: the held-out ones of a run, or else those that
    /// it was trained on.
    pub(super) fn new(
        config: &'a ExperimentConfig,
        weights: &'a [f32],
        samples: &'a Dataset,
    ) -> Result<Self, Error> {
        let frozen = FrozenModel::new(config)?;
        frozen.check(weights)?;
        Ok(Self {
            config,
            frozen,
            weights,
            samples,
            certificate: None,
        })
    }

    /// The samples up to `most`, in parts of which a pass takes each.
    pub(super) fn parts(&self, most: usize) -> Vec<Vec<u32>> {
        let samples: Vec<u32> = (0..self.samples.len().min(most) as u32).collect();
        let size = samples_per_pass(self.config).min(MOST_AT_ONCE);
        samples.chunks(size).map(<[u32]>::to_vec).collect()
    }

    /// What the model computes for some samples.
    pub(super) fn forward(
        &mut self,
        chosen: &[u32],
        changes: &[Intervention],
        recorded: Recording,
    ) -> Result<ForwardValues, Error> {
        self.frozen
            .forward(self.weights, self.samples, chosen, changes, recorded)
    }

    /// The row of attention weights of a head in the `index`-th sample of a pass, from the readout position.
    pub(super) fn row<'f>(
        &self,
        forward: &'f ForwardValues,
        index: usize,
        sample: u32,
        [layer, head]: [usize; 2],
    ) -> &'f [f32] {
        let tokens = self.samples.tokens(sample as usize);
        let query = self.config.readout_position(tokens);
        forward.at(Array::Weights, &[index, layer, head, query])
    }

    /// The keys that the readout position may look at.
    pub(super) fn keys(&self, sample: u32) -> Keys {
        let tokens = self.samples.tokens(sample as usize);
        let query = self.config.readout_position(tokens);
        self.config.model.attention.keys(query, tokens)
    }

    /// The positions that decide a sample's label, by the config's rule.
    pub(super) fn deciding(&self, sample: u32) -> Vec<usize> {
        let tokens = self.samples.tokens(sample as usize);
        let rule = self.config.data.rule.as_ref();
        rule.map_or_else(Vec::new, |rule| {
            rule.deciding_positions(tokens, self.samples.cls())
        })
    }

    /// The positions of a sample that hold its words: neither `[CLS]` nor padding.
    pub(super) fn words(&self, sample: u32) -> Vec<usize> {
        let tokens = self.samples.tokens(sample as usize);
        let (cls, padding) = (
            self.config.inputs().cls,
            self.config.model.attention.padding_token,
        );
        let is_word =
            |&position: &usize| Some(position) != cls && Some(tokens[position]) != padding;
        (0..tokens.len()).filter(is_word).collect()
    }

    /// The embedding of a token. `[d_model]`
    pub(super) fn embedding(&self, token: u32) -> &'a [f32] {
        // It is the first parameter.
        let width = self.config.model.d_model;
        &self.weights[token as usize * width..][..width]
    }
}
