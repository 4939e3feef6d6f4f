//! Worked examples of attention, computed in float64 and compared with the numbers that a document prints.
//!
//! A walkthrough is a TOML file: tokens, the numbers that a document starts from, and the results that it
//! prints. [`Walkthrough::read`] computes every stage, and marks printed numbers that differ by more than
//! rounding. [`BUILT_IN`] holds the walkthroughs of `configs/walkthroughs`.
//!
//! | key | meaning |
//! |---|---|
//! | `title`, `source`, `about` | the name of the example, the document that it comes from, and what to notice |
//! | `tokens`, `key_tokens` | the query tokens, and the key tokens if they differ |
//! | `x` | embeddings, one row per token; with `memory`, keys and values come from these other embeddings |
//! | `w_query`, `w_key`, `w_value` | projections; without one, the embeddings are used unchanged |
//! | `query`, `key`, `value` | vectors instead of embeddings |
//! | `scores`, `d_k` | products instead of vectors, and the width of the vectors |
//! | `weights` | weights instead of scores |
//! | `scale`, `mask` | the same as in a model's config ([`Scale`](headlight_architecture::Scale), [`Mask`](headlight_architecture::Mask)) |
//! | `temperature` | the divisor of scaled scores |
//! | `query_rows` | the queries to show, by token or index |
//! | `[[published]]` | numbers that the document prints: `stage`, `row`, `columns`, `values`, `decimals`, and a `note` on why they differ |
//! | `[[case]]` | a variant: a `title`, and any keys that differ; its printed numbers are in `[[case.published]]` |
//!
//! ```
//! use headlight_walkthrough::{Stage, Walkthrough};
//!
//! let worked = Walkthrough::read("example", br#"
//!     title = "Two tokens"
//!     tokens = ["a", "b"]
//!     x = [[1, 0], [0, 1]]
//!     scale = false
//!
//!     [[published]]
//!     stage = "weights"
//!     row = "a"
//!     values = [0.73, 0.28]
//!     decimals = 2
//! "#).unwrap();
//! let weights = &worked.cases[0].stages[2];
//! assert_eq!(weights.stage, Stage::Weights);
//! assert!((weights.matrix.0[0][0] - 0.731_058_6).abs() < 1e-6);
//! // 0.73 is 0.7311 rounded; 0.28 is not 0.2689 rounded.
//! assert_eq!(worked.errata, 1);
//! ```

mod built_in;
mod compute;
mod document;
mod keys;
mod matrix;
mod published;
mod stage;
mod text;
mod walkthrough;

pub use built_in::{BUILT_IN, BuiltIn, built_in};
pub use compute::Computed;
pub use matrix::Matrix;
pub use published::Published;
pub use stage::Stage;
pub use walkthrough::{MAX_BYTES, Walkthrough, WorkedCase};
