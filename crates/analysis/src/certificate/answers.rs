//! The engine's own answers.

use headlight_fused::{BatchPredictions, Model, Samples};

use headlight_experiment::Error;
use headlight_experiment::architecture;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::metrics::predicted_class;

/// The fused engine as `predict` and `evaluate` use it.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    model: Model,
    predictions: BatchPredictions,
    logits: usize,
}

impl Answers {
    pub(super) fn new(config: &ExperimentConfig, weights: &[f32]) -> Result<Self, Error> {
        let training = config.training.fused(config.seed);
        Ok(Self {
            model: Model::new(&architecture(config)?, training, weights),
            predictions: BatchPredictions::default(),
            logits: config.model.n_logits(config.data.n_classes),
        })
    }

    /// The class and the margin of each sample's label.
    pub(super) fn predict(
        &mut self,
        tokens: &[u32],
        labels: &[u32],
    ) -> Result<Vec<(u32, f64)>, Error> {
        if labels.is_empty() {
            return Ok(Vec::new());
        }
        let chosen: Vec<u32> = (0..labels.len() as u32).collect();
        let samples = Samples::new(tokens, labels);
        self.model.predict(samples, &chosen, &mut self.predictions);
        let logits = self.predictions.logits.chunks_exact(self.logits);
        let answer = |((logits, &label), tokens): ((&[f32], &u32), &[u32])| {
            if logits.iter().any(|logit| !logit.is_finite()) {
                let tokens: Vec<String> = tokens.iter().map(u32::to_string).collect();
                return Err(Error::not_finite(&format!(
                    " for the input {}",
                    tokens.join(" ")
                )));
            }
            let logits: Vec<f64> = logits.iter().map(|&logit| f64::from(logit)).collect();
            Ok((predicted_class(&logits), margin(&logits, label as usize)))
        };
        let samples = tokens.chunks_exact(tokens.len() / labels.len());
        logits.zip(labels).zip(samples).map(answer).collect()
    }
}

/// A label's logit less the largest other one; with one logit, the log-odds of the label.
pub(super) fn margin(logits: &[f64], label: usize) -> f64 {
    if let [log_odds] = logits {
        // 0 has no sign.
        return if label == 1 {
            *log_odds + 0.0
        } else {
            0.0 - log_odds
        };
    }
    let others = logits
        .iter()
        .enumerate()
        .filter(|(class, _)| *class != label);
    logits[label]
        - others
            .map(|(_, logit)| *logit)
            .fold(f64::NEG_INFINITY, f64::max)
}
