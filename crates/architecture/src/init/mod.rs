//! The initial weights of a model: their config, the distributions that it names, and how they are drawn.

mod config;
mod draw;
mod scheme;
mod start;

pub(crate) use config::Part;
pub use config::{InitConfig, Scheme, Std, StdConfig};
pub use draw::Initial;
pub(crate) use scheme::Draw;
