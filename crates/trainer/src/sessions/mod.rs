//! Sessions: devices and engines opened, the Burn engine, and what training hands to storage.

#[cfg(feature = "burn")]
pub mod burn;
pub mod dump_volume;
pub mod dumping;
pub mod opening;
pub mod resume;
pub mod run_writer;
pub mod session;
pub mod signals;
pub mod test_sets;
