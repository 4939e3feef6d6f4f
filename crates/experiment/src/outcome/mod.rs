//! The outcome of training: whether the model learned its task. Whatever states it takes it from here.

mod baselines;
mod judgement;
mod sentences;

pub use baselines::{Baseline, Guess};
pub use judgement::{Outcome, Overfitting, Verdict, is_learned};
pub use sentences::grouped;
