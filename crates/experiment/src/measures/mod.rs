//! Measures of a trained model: numbers that answer a question about how it works, beside the metrics, which say how well.
//! A config names those that it wants in `report.measures`. Each is a file here, and has its line in `list.rs`.
//!
//! Names and sentences are known everywhere. What computes the values needs the feature `measures`, which the module of the
//! page leaves out.

#[macro_use]
mod list;

#[cfg(feature = "measures")]
mod accuracy_on_all;
#[cfg(feature = "measures")]
mod all_samples;
#[cfg(feature = "measures")]
mod answers;
#[cfg(feature = "measures")]
mod attended;
#[cfg(feature = "measures")]
mod brackets;
#[cfg(feature = "measures")]
mod circularity;
#[cfg(feature = "measures")]
mod components;
#[cfg(feature = "measures")]
mod copying;
#[cfg(feature = "measures")]
mod deciding_attention;
#[cfg(feature = "measures")]
mod deciding_uniform;
#[cfg(feature = "measures")]
mod distance_irrelevance;
#[cfg(feature = "measures")]
mod errors_in_worst_class;
#[cfg(feature = "measures")]
mod errors_near;
#[cfg(feature = "measures")]
mod errors_on_tokens;
#[cfg(feature = "measures")]
mod gain_of_looking;
#[cfg(feature = "measures")]
mod gain_of_looking_zero;
#[cfg(feature = "measures")]
mod gap;
#[cfg(feature = "measures")]
mod gap_by_values;
#[cfg(feature = "measures")]
mod gap_by_weights;
#[cfg(feature = "measures")]
mod gap_of_order;
#[cfg(feature = "measures")]
mod gap_of_totals;
#[cfg(feature = "measures")]
mod gap_without_others;
#[cfg(feature = "measures")]
mod gap_without_reader;
#[cfg(feature = "measures")]
mod gradient_symmetricity;
#[cfg(feature = "measures")]
mod head_removal;
#[cfg(feature = "measures")]
mod info;
#[cfg(feature = "measures")]
mod kendall;
#[cfg(feature = "measures")]
mod kendall_gradient;
#[cfg(feature = "measures")]
mod kendall_removal;
mod name;
#[cfg(feature = "measures")]
mod neighbour_order;
#[cfg(feature = "measures")]
mod one_attention;
#[cfg(feature = "measures")]
mod order_by_head;
#[cfg(feature = "measures")]
mod pairs;
#[cfg(feature = "measures")]
mod score_order;
#[cfg(feature = "measures")]
mod smallest_margin;
#[cfg(feature = "measures")]
mod subject;
#[cfg(feature = "measures")]
mod sums;
#[cfg(feature = "measures")]
mod table;
#[cfg(feature = "measures")]
mod totals_by_head;
mod value;
#[cfg(feature = "measures")]
mod worst_class;
#[cfg(feature = "measures")]
mod wrong_inputs;

#[cfg(feature = "measures")]
pub use info::MeasureInfo;
pub use name::MeasureName;
#[cfg(feature = "measures")]
pub use table::{certified, check, measured};
pub use value::Measured;
