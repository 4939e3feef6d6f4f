//! The evaluations of a training, and its best model so far, by the criterion of `training.keep_best`.

use headlight_architecture::Parameter;

use crate::config::TrainingConfig;
use crate::engine::Engine;
use crate::metrics::{Criterion, StepMetrics};

/// The evaluations of a training, and the best model if the config keeps it.
#[derive(Clone, Debug)]
pub struct Evaluations {
    /// The evaluations, in the order of their steps.
    pub rows: Vec<StepMetrics>,
    /// What keeps the best model, if the config asks for it.
    pub tracker: Option<BestTracker>,
}

impl Evaluations {
    /// None yet.
    pub fn new(config: &TrainingConfig) -> Self {
        Self {
            rows: Vec::new(),
            tracker: BestTracker::new(config),
        }
    }

    /// Adds an evaluation of the engine's model.
    pub fn add(&mut self, metrics: StepMetrics, engine: &dyn Engine) {
        self.compare(&metrics, engine);
        self.rows.push(metrics);
    }

    /// Compares an evaluation that is not added yet with the best one so far.
    pub fn compare(&mut self, metrics: &StepMetrics, engine: &dyn Engine) {
        if let Some(tracker) = &mut self.tracker {
            tracker.update(metrics, engine);
        }
    }

    /// The best model so far, if the config keeps it.
    pub fn best(&self) -> Option<&BestModel> {
        self.tracker.as_ref()?.best.as_ref()
    }

    /// Its step.
    pub fn best_step(&self) -> Option<usize> {
        Some(self.best()?.step)
    }

    /// Whether the config's patience has run out.
    pub fn is_out_of_patience(&self) -> bool {
        let tracker = self.tracker.as_ref();
        tracker.is_some_and(BestTracker::is_out_of_patience)
    }
}

/// Keeps the best model, and reports when `training.patience` runs out.
#[derive(Clone, Debug, PartialEq)]
pub struct BestTracker {
    /// What models are compared by.
    pub criterion: Criterion,
    patience: usize,
    /// The best model so far.
    pub best: Option<BestModel>,
}

/// The best model so far.
#[derive(Clone, Debug, PartialEq)]
pub struct BestModel {
    /// The value of the criterion.
    pub value: f64,
    /// The number of steps that it was trained for.
    pub step: usize,
    /// The number of evaluations since then.
    pub waited: usize,
    /// Its parameters, in the model's order.
    pub parameters: Vec<Parameter>,
}

impl BestTracker {
    /// A tracker for the criterion of `keep_best`; `None` if the config has none.
    pub fn new(config: &TrainingConfig) -> Option<Self> {
        Some(Self {
            criterion: config.keep_best?,
            patience: config.patience,
            best: None,
        })
    }

    /// Compares an evaluation of the engine's model with the best one so far.
    pub fn update(&mut self, metrics: &StepMetrics, engine: &dyn Engine) {
        let before = self.best.as_ref().map(|best| best.value);
        if let Some(value) = better(self.criterion, metrics, before) {
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

    /// Whether `patience` evaluations or more have passed without a better model.
    pub fn is_out_of_patience(&self) -> bool {
        let waited = self.best.as_ref().map_or(0, |best| best.waited);
        self.patience > 0 && waited >= self.patience
    }
}

/// The value of an evaluation, if it is better than the best one before.
fn better(criterion: Criterion, metrics: &StepMetrics, before: Option<f64>) -> Option<f64> {
    let value = metrics.judged_by(criterion);
    value.filter(|&value| before.is_none_or(|before| criterion.is_better(value, before)))
}

/// The evaluation of the best model among the rows of a run's `metrics.jsonl`, by its index: what [`BestTracker`] kept.
/// `None` if the config keeps none, or no evaluation has a value.
pub fn best_evaluation(config: &TrainingConfig, rows: &[StepMetrics]) -> Option<usize> {
    let criterion = config.keep_best?;
    let mut best: Option<(usize, f64)> = None;
    for (index, row) in rows.iter().enumerate() {
        if let Some(value) = better(criterion, row, best.map(|(_, value)| value)) {
            best = Some((index, value));
        }
    }
    best.map(|(index, _)| index)
}
