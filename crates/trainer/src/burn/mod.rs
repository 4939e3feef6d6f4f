//! Burn: the reference that every other engine is held to.

mod adam;
pub mod device;
mod engine;
mod forward;

pub use engine::BurnEngine;
pub use forward::fill;
