//! A model that computes some samples with any weights.

use headlight_data::Dataset;
use headlight_experiment::check_model_size;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{Forward, Frozen, Intervention, Recorded};
use headlight_experiment::metrics::rounded_probabilities;

use crate::samples::told;

/// A model that computes some samples.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) frozen: Frozen,
    pub(crate) samples: Dataset,
    chosen: Vec<u32>,
    interventions: Vec<Intervention>,
    n_logits: usize,
    /// The attention weights of a sample.
    pairs: usize,
}

impl View {
    /// A config's model for some samples.
    ///
    /// # Errors
    /// When the config is invalid.
    pub(crate) fn new(
        config: &ExperimentConfig,
        samples: Dataset,
        interventions: Vec<Intervention>,
    ) -> Result<Self, String> {
        config.validate().map_err(|invalid| told(&invalid))?;
        check_model_size(config).map_err(|error| error.to_string())?;
        let model = &config.model;
        Ok(Self {
            frozen: Frozen::new(config).map_err(|error| error.to_string())?,
            chosen: (0..samples.len() as u32).collect(),
            n_logits: config.inputs().n_logits(),
            pairs: model.n_layers * model.n_heads * samples.positions().pow(2),
            samples,
            interventions,
        })
    }

    /// What the model computes.
    ///
    /// # Errors
    /// When the weights or the interventions do not suit the model.
    pub(crate) fn forward(
        &mut self,
        weights: &[f32],
        recorded: Recorded,
    ) -> Result<Forward, String> {
        let (samples, chosen) = (&self.samples, &self.chosen);
        let forward = self
            .frozen
            .forward(weights, samples, chosen, &self.interventions, recorded);
        forward.map_err(|error| error.to_string())
    }

    /// The probabilities of logits, as a dump has them.
    pub(crate) fn probabilities(&self, logits: &[f32]) -> Vec<f32> {
        rounded_probabilities(logits, self.n_logits)
    }

    /// What a row holds of a step, besides its weights: names and lengths.
    pub(crate) fn row(&self) -> [(&'static str, usize); 4] {
        let samples = self.samples.len();
        let (logits, pairs) = (samples * self.n_logits, samples * self.pairs);
        [
            ("probabilities", logits),
            ("logits", logits),
            ("attention_scores", pairs),
            ("attention_weights", pairs),
        ]
    }

    /// Appends the row of a step.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub(crate) fn append(&mut self, weights: &[f32], rows: &mut Vec<f32>) -> Result<(), String> {
        let all = self.forward(weights, Recorded::Attention)?;
        let logits = &all.predictions.logits;
        rows.extend(self.probabilities(logits));
        rows.extend_from_slice(logits);
        rows.extend_from_slice(&all.scores);
        rows.extend_from_slice(&all.weights);
        Ok(())
    }
}
