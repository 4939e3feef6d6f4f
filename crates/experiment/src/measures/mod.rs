//! Measures of a trained model: numbers that answer a question about how it works, beside the metrics, which say how well.
//! A config names those that it wants in `report.measures`. Each is a file here, and has its line in `list.rs`.

#[macro_use]
mod list;

mod accuracy_on_all;
mod all_samples;
mod answers;
mod attended;
mod brackets;
mod circularity;
mod components;
mod copying;
mod deciding_attention;
mod deciding_uniform;
mod distance_irrelevance;
mod errors_in_worst_class;
mod errors_near;
mod errors_on_tokens;
mod gain_of_looking;
mod gain_of_looking_zero;
mod gap;
mod gap_by_values;
mod gap_by_weights;
mod gap_of_order;
mod gap_of_totals;
mod gap_without_others;
mod gap_without_reader;
mod gradient_symmetricity;
mod head_removal;
mod info;
mod kendall;
mod kendall_gradient;
mod kendall_removal;
mod name;
mod neighbour_order;
mod one_attention;
mod order_by_head;
mod pairs;
mod score_order;
mod smallest_margin;
mod subject;
mod sums;
mod table;
mod totals_by_head;
mod value;
mod worst_class;
mod wrong_inputs;

pub use info::MeasureInfo;
pub use name::MeasureName;
pub use table::{certified, check, measured};
pub use value::Measured;
