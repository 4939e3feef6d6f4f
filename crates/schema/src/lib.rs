//! Config keys, each described once: at the field that holds its value.
//!
//! [`section!`] makes the struct of a config's section, and [`choices!`] an enum of named values. Both take the item as
//! Rust writes it. A field's doc comment is the sentence that documents, hints, editors and `headlight init` show.
//!
//! ```
//! use headlight_schema::{InvalidValue, Range, ConfigSection};
//!
//! headlight_schema::section! {
//!     /// How a model is trained.
//!     pub struct Training {
//!         /// Passes over the samples.
//!         #[range(Range::at_least(1))]
//!         pub epochs: usize,
//!         /// Samples per step.
//!         #[range(Range::at_least(1))]
//!         pub batch_size: usize = 16,
//!         /// The share of tokens that each step leaves out.
//!         #[range(Range::BELOW_ONE)]
//!         #[omit(default)]
//!         pub token_dropout: f64 = 0.0,
//!     }
//! }
//!
//! let training: Training = serde_json::from_str(r#"{ "epochs": 0 }"#)?;
//! assert_eq!(training.batch_size, 16);
//! // A key that was added after others is not written while it has its default.
//! assert_eq!(serde_json::to_string(&training)?, r#"{"epochs":0,"batch_size":16}"#);
//! let expected = InvalidValue::new("epochs", "epochs is 0; it must be at least 1");
//! assert_eq!(training.check_ranges(), Err(expected));
//! let keys = Training::keys();
//! assert_eq!((keys[1].name, &*keys[1].sentence), ("batch_size", "Samples per step."));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod choices;
mod invalid;
mod key;
mod range;
mod section;

pub use choices::sentence;
pub use invalid::{InvalidValue, require};
pub use key::{Choice, Key, Kind, Value, Variant, paths};
pub use range::Range;
pub use section::{ConfigSection, unless_default};
