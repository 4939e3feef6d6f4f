//! The predictions of a model with interventions.

use headlight_architecture::Parameter;
use headlight_data::Dataset;

use headlight_experiment::Error;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{FrozenModel, Intervention, Recording, to_predictions};
use headlight_experiment::{Predictions, Predictor};

/// What a model with interventions predicts for the samples of a dataset. All are computed at once, since an intervention
/// may have a vector for each.
#[derive(Debug)]
pub struct ModelWithInterventions {
    all: Predictions,
}

impl ModelWithInterventions {
    /// Computes the predictions for all samples of a dataset; `parameters` are in the model's order.
    ///
    /// # Errors
    /// When the parameters or the interventions do not match the config.
    pub fn new(
        config: &ExperimentConfig,
        parameters: &[Parameter],
        dataset: &Dataset,
        interventions: &[Intervention],
    ) -> Result<Self, Error> {
        let weights = Parameter::weights(parameters);
        let chosen: Vec<u32> = (0..dataset.len() as u32).collect();
        let mut frozen = FrozenModel::new(config)?;
        let only = Recording::Predictions;
        let found = frozen.forward(&weights, dataset, &chosen, interventions, only)?;
        let mut all = Predictions::default();
        to_predictions(&found.predictions, config.model.n_heads, dataset, &mut all);
        Ok(Self { all })
    }
}

impl Predictor for ModelWithInterventions {
    /// # Panics
    /// When the dataset is another one.
    fn predict(&mut self, dataset: &Dataset, samples: &[u32], predictions: &mut Predictions) {
        predictions.clear();
        let all = &self.all;
        for (all, into) in [
            (&all.logits, &mut predictions.logits),
            (&all.probabilities, &mut predictions.probabilities),
            (&all.losses, &mut predictions.losses),
            (&all.attention, &mut predictions.attention),
        ] {
            let each = all.len() / dataset.len().max(1);
            for &sample in samples {
                into.extend_from_slice(&all[sample as usize * each..][..each]);
            }
        }
    }

    fn samples_per_pass(&self) -> usize {
        500
    }
}
