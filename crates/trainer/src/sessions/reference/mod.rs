//! A reference run: recorded elsewhere, repeated here, and compared number by number.
//!
//! `scripts/evidence/keras_reference.py` records one in Keras; the head of the script describes the file. The
//! comparison has three levels: the forward pass with the recorded weights, the gradient of the first batch,
//! and the whole training run from the same weights over the same batches.

mod compare;
mod figures;
mod file;
mod run;

pub use compare::Comparison;
pub use figures::{compare_at_end, compare_at_start};
pub use run::Reference;
