//! The initial weights of a model: their config, the distributions that it names, and how they are drawn.

mod config;
mod draw;
mod initial_parameters;
mod scheme;

pub(crate) use config::MatrixKind;
pub use config::{InitConfig, Scheme, Std, StdConfig};
pub use draw::Initializer;
pub(crate) use scheme::Initializers;
