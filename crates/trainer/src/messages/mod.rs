//! What a user is told: failures, notes, and how both name paths and options.

pub mod face;
pub mod failure;
pub mod notes;
pub mod paths;
