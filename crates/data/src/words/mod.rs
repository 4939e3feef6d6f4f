//! Words as tokens: the vocabulary that a config holds, and what texts become with it.

#[cfg(feature = "tables")]
mod characters;
#[cfg(feature = "tables")]
mod split;
#[cfg(feature = "tables")]
mod text;
mod vocabulary;

#[cfg(feature = "tables")]
pub use split::PATTERN;
#[cfg(feature = "tables")]
pub(crate) use split::letters;
#[cfg(feature = "tables")]
pub use text::Encoder;
#[cfg(feature = "rows")]
pub(crate) use vocabulary::VALUE_END;
pub use vocabulary::{FIRST_WORD, Level, PAD, SPECIAL, UNK, Words};
