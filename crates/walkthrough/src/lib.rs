//! Worked examples of attention, computed by [`headlight_model`] and checked against what a document
//! prints.
//!
//! A walkthrough is a TOML file: tokens, the numbers that a document gives for them, and the numbers
//! that it says come out. [`Walkthrough::read`] computes every stage in between and marks what
//! differs by more than rounding. [`BUILT_IN`] holds those of `configs/walkthroughs`.
//!
//! | key | what it is |
//! |---|---|
//! | `title`, `source`, `about` | what is computed, the document that it is from, what there is to see |
//! | `tokens`, `key_tokens` | the tokens that ask, and those that are looked at where they are others |
//! | `x` | embeddings, a row a token; with `memory`, keys and values come from other embeddings |
//! | `w_query`, `w_key`, `w_value` | what embeddings are multiplied by; where one is missing they are taken as they are |
//! | `query`, `key`, `value` | vectors instead of embeddings |
//! | `scores`, `d_k` | products instead of vectors, and how wide the vectors were |
//! | `weights` | weights instead of scores |
//! | `scale`, `mask` | as a model's config has them ([`Scale`](headlight_architecture::Scale), [`Mask`](headlight_architecture::Mask)) |
//! | `temperature` | what scaled scores are divided by |
//! | `query_rows` | the queries to show, by token or index |
//! | `[[published]]` | `stage`, `row`, `columns`, `values`, `decimals` that the document prints; a `note` on why they differ |
//! | `[[case]]` | a variant: a `title`, and any other key anew; its numbers are in `[[case.published]]` |
//!
//! ```
//! use headlight_walkthrough::{Stage, Walkthrough};
//!
//! let worked = Walkthrough::read(br#"
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
//! assert!((weights.matrix.values[0] - 0.731_058_6).abs() < 1e-6);
//! // 0.73 is 0.7311 rounded; 0.28 is not 0.2689 rounded.
//! assert_eq!(worked.errata(), 1);
//! ```

mod beginning;
mod built_in;
mod case;
mod compute;
mod document;
mod format;
mod json;
mod matrix;
mod mistake;
mod published;
mod stage;
mod walkthrough;

pub use built_in::{BUILT_IN, BuiltIn, built_in};
pub use compute::Computed;
pub use matrix::Matrix;
pub use mistake::Mistake;
pub use published::{Cell, Published};
pub use stage::Stage;
pub use walkthrough::{MOST_BYTES, Walkthrough, WorkedCase};
