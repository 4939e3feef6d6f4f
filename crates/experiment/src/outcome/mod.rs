//! The outcome of training: whether the model learned its task. All code that states the outcome takes it from here.

mod baselines;
mod judgement;
mod sentences;

pub use baselines::{Baseline, Guess};
pub use judgement::{FEWEST_JUDGED, Outcome, Overfitting, Verdict, is_learned};
pub use sentences::with_thousands;
