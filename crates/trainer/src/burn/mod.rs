//! Burn: the reference with which every other engine is compared.

pub(crate) mod device;
mod engine;
mod forward;
mod gradient;
mod loss;
mod optimizer;

pub use engine::BurnEngine;
pub(crate) use forward::fill;
