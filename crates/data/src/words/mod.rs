//! Words as tokens: the vocabulary that a config holds, and what texts become with it.

#[cfg(feature = "files")]
mod text;
mod vocabulary;

#[cfg(feature = "files")]
pub use text::{Encoder, PATTERN, written};
pub use vocabulary::{FIRST_WORD, PAD, UNK, Words};
