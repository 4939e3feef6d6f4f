//! What is asked of a trained model: which inputs it answers wrongly, numbers that say how it works, why it gives an answer, what it
//! generates, in which contexts it reads a word, and what it answers with interventions.
//!
//! All passes are the fused engine's, whichever engine trained the model. Nothing here opens a file, depends on Burn, or writes to a
//! terminal.

pub mod certificate;
pub mod contexts;
pub mod explain;
pub mod generate;
mod interventions;
pub mod measures;
pub mod removal;

pub use interventions::ModelWithInterventions;
