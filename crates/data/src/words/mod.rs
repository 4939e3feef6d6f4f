//! Words as tokens: the vocabulary that a config holds, and what texts become with it.

mod characters;
mod split;
mod text;
mod vocabulary;

pub use split::PATTERN;
pub(crate) use split::letters;
pub use text::{Encoder, composed};
pub(crate) use vocabulary::VALUE_END;
pub use vocabulary::{FIRST_WORD, PAD, SPECIAL, TokenLevel, UNK, WINDOW, Words};
