//! Burn: the reference with which every other engine is compared.

mod adam;
pub mod device;
mod engine;
mod forward;

pub use engine::BurnEngine;
pub use forward::fill;
