//! Words as tokens: the vocabulary that a config holds, and what texts become with it.

#[cfg(feature = "files")]
mod split;
#[cfg(feature = "files")]
mod text;
mod vocabulary;

#[cfg(feature = "files")]
pub use split::PATTERN;
#[cfg(feature = "files")]
pub(crate) use split::letters;
#[cfg(feature = "files")]
pub use text::{Encoder, written};
#[cfg(feature = "rows")]
pub(crate) use vocabulary::VALUE_END;
pub use vocabulary::{FIRST_WORD, PAD, SPECIAL, UNK, Words};
