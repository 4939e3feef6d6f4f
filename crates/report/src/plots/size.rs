//! The size of a panel, and the room around its axes, in pixels.

pub(super) const WIDTH: f64 = 320.0;
pub(super) const HEIGHT: f64 = 250.0;
pub(super) const LEFT: f64 = 54.0;
pub(super) const RIGHT: f64 = 20.0;
pub(super) const TOP: f64 = 34.0;
pub(super) const BOTTOM: f64 = 44.0;

/// The height of a line of text, and about the widest that a column of a terminal is drawn, in letters and in digits.
pub(super) const LINE: f64 = 15.0;
pub(super) const LETTER: f64 = 8.0;
pub(super) const DIGIT: f64 = 7.6;

/// The room that a panel's labels take beyond its size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    pub(super) above: f64,
    pub(super) below: f64,
    pub(super) left: f64,
    pub(super) right: f64,
}
