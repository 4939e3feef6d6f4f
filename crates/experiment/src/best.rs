//! The best model so far, by the measure of `training.keep_best`.

use headlight_architecture::Parameter;

use crate::config::TrainingConfig;
use crate::engine::Engine;
use crate::metrics::{Measure, StepMetrics};

/// Keeps the best model, and says when training has gone too long without a better one.
#[derive(Clone, Debug, PartialEq)]
pub struct BestTracker {
    /// What is compared.
    pub measure: Measure,
    patience: usize,
    /// The best model so far.
    pub best: Option<BestModel>,
}

/// A model that was better than all before it.
#[derive(Clone, Debug, PartialEq)]
pub struct BestModel {
    /// What was measured.
    pub value: f64,
    /// Steps taken until then.
    pub step: usize,
    /// Evaluations since.
    pub waited: usize,
    /// The model, in its order.
    pub parameters: Vec<Parameter>,
}

impl BestTracker {
    /// The tracker that a config asks for, if it asks for one.
    pub fn new(config: &TrainingConfig) -> Option<Self> {
        Some(Self {
            measure: config.keep_best?,
            patience: config.patience,
            best: None,
        })
    }

    /// Compares an evaluation of the engine's model with the best one so far.
    pub fn update(&mut self, metrics: &StepMetrics, engine: &dyn Engine) {
        let value = metrics.measure(self.measure);
        let better = value.filter(|&value| match &self.best {
            Some(best) => self.measure.is_better(value, best.value),
            None => true,
        });
        if let Some(value) = better {
            self.best = Some(BestModel {
                value,
                step: metrics.step,
                waited: 0,
                parameters: engine.parameters(),
            });
        } else if let Some(best) = &mut self.best {
            best.waited += 1;
        }
    }

    /// Whether as many evaluations as the config allows have passed without a better model.
    pub fn is_out_of_patience(&self) -> bool {
        let waited = self.best.as_ref().map_or(0, |best| best.waited);
        self.patience > 0 && waited >= self.patience
    }
}
