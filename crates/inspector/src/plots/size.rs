//! The size of a panel, and the room around its axes, in pixels.

pub(super) const WIDTH: f64 = 320.0;
pub(super) const HEIGHT: f64 = 250.0;
pub(super) const LEFT: f64 = 54.0;
pub(super) const RIGHT: f64 = 20.0;
pub(super) const TOP: f64 = 34.0;
pub(super) const BOTTOM: f64 = 44.0;
