//! How the step size changes over training.

use std::f64::consts::PI;

use headlight_architecture::mathematics::cos;
use headlight_keys::choices;

use super::TrainingConfig;

choices! {
    /// How the step size changes over training, after the warm-up.
    pub enum Schedule {
        /// Not at all.
        Constant = "constant",
        /// It falls evenly, to 0 after the last step.
        Linear = "linear",
        /// It falls as half a period of a cosine does, to 0 after the last step.
        Cosine = "cosine",
    }
}

impl TrainingConfig {
    /// The step size of a step, counted from 0, of `total`.
    ///
    /// The factor of the warm-up is `step / warmup_steps`, so that the first step changes nothing; then `progress` runs from
    /// 0 to 1 over the other steps. These are the schedules of Hugging Face's `get_scheduler`.
    pub fn learning_rate_at(&self, step: usize, total: usize) -> f64 {
        let (rate, warmup) = (self.learning_rate, self.warmup_steps);
        if step < warmup {
            return rate * (step as f64 / warmup as f64);
        }
        let left = total.saturating_sub(warmup).max(1);
        let progress = ((step - warmup) as f64 / left as f64).min(1.0);
        match self.schedule {
            Schedule::Constant => rate,
            Schedule::Linear => rate * (1.0 - progress),
            Schedule::Cosine => rate * (0.5 * (1.0 + cos(PI * progress))),
        }
    }
}
