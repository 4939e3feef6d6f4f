//! The best model so far, by the measurement that the config watches.

use headlight_model::Parameter;

use crate::config::{Measure, TrainingConfig};
use crate::engine::Engine;
use crate::metrics::StepMetrics;

/// Keeps the best model, and says when nothing better has come for too long.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Watch {
    measure: Measure,
    patience: usize,
    pub(crate) best: Option<Best>,
}

/// A model that was better than all before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// What was measured.
    pub value: f64,
    /// Steps taken until then.
    pub step: usize,
    /// Evaluations since.
    pub waited: usize,
    /// The model, in its order.
    pub parameters: Vec<Parameter>,
}

impl Watch {
    /// As a config asks for it; `None` where it asks for nothing.
    pub(crate) fn new(config: &TrainingConfig) -> Option<Self> {
        Some(Self {
            measure: config.keep_best?,
            patience: config.patience,
            best: None,
        })
    }

    /// Takes an evaluation of the engine's model.
    pub(crate) fn see(&mut self, metrics: &StepMetrics, engine: &dyn Engine) {
        let value = metrics.measure(self.measure);
        let better = value.filter(|&value| match &self.best {
            Some(best) if self.measure.is_loss() => value < best.value,
            Some(best) => value > best.value,
            None => true,
        });
        if let Some(value) = better {
            self.best = Some(Best {
                value,
                step: metrics.step,
                waited: 0,
                parameters: engine.parameters(),
            });
        } else if let Some(best) = &mut self.best {
            best.waited += 1;
        }
    }

    /// Whether the last evaluations were not better for as long as the config allows.
    pub(crate) fn has_waited_enough(&self) -> bool {
        let waited = self.best.as_ref().map_or(0, |best| best.waited);
        self.patience > 0 && waited >= self.patience
    }

    /// What is kept and why training stopped, for the report.
    pub(crate) fn describe(&self, step: usize) -> Option<String> {
        let best = self.best.as_ref()?;
        let name = self.measure.name();
        let mut text = format!(
            "Best {name}: {:.6} at step {}; that model is in best.safetensors.",
            best.value, best.step
        );
        if self.has_waited_enough() {
            text = format!(
                "Stopped after {step} steps: {name} has not been better since, in {} evaluation{}. {text}",
                best.waited,
                if best.waited == 1 { "" } else { "s" }
            );
        }
        Some(text)
    }
}
