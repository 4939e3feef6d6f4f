//! Measures of a trained model: numbers that answer a question about how it works, beside the metrics, which say how well.
//! A config names those that it wants in `report.measures`. `name.rs` lists them, and `computed/` has their values.

mod computed;
mod name;
mod value;

pub use computed::{MeasureInfo, certified, check, measured};
pub use name::MeasureName;
pub use value::Measured;
