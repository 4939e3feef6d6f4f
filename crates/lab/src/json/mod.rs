//! JSON, read and written with little code: `serde_json` would take a fifth of the module.
//!
//! Numbers are read and written by the standard library, which rounds them correctly. Each type is read in the one form
//! that a config has it in: a struct from an object, not from a list too.

mod reader;
mod writer;

pub use reader::{Error, read};
pub use writer::{Json, Object};
