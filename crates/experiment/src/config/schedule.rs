//! How the learning rate changes over training.

use std::f64::consts::PI;

use headlight_architecture::mathematics::{cos, ln};

use super::training::{Schedule, TrainingConfig};

impl TrainingConfig {
    /// Whether a step, counted from 0, is one of those that the config chooses for evaluations; `None` if it chooses none.
    ///
    /// On the logarithmic grid these are, for each whole `k`, the step nearest to `10^(k / evaluations_per_decade)`; and 0.
    pub fn chosen_steps(&self) -> Option<impl Fn(usize) -> bool + '_> {
        let per_decade = self.evaluations_per_decade;
        let is_chosen = move |step: usize| {
            if per_decade == 0 {
                return self.evaluate_at.contains(&step);
            }
            let place = |step: f64| ln(step) / ln(10.0) * per_decade as f64;
            // The grid has a point between the halves to the next steps on either side.
            step == 0 || place(step as f64 + 0.5).ceil() > place(step as f64 - 0.5).ceil()
        };
        (per_decade > 0 || !self.evaluate_at.is_empty()).then_some(is_chosen)
    }

    /// The learning rate of a step, counted from 0, of `total`.
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
