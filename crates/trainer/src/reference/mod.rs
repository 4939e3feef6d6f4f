//! A reference run: recorded elsewhere, repeated here, and compared figure by figure.
//!
//! `scripts/keras/keras_reference.py` records one in Keras, and its head says what the file holds. The
//! comparison has three levels: what the recorded weights compute, the gradient of the first batch, and
//! the whole training run from the same weights over the same batches.

mod compare;
mod figures;
mod file;
mod run;

pub use compare::Comparison;
pub use figures::{compare_at_end, compare_at_start};
pub use run::Reference;
