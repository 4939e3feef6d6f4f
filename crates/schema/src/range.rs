//! The values that a number of a config may have.

use std::fmt;

/// An interval of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower end.
    pub from: f64,
    /// Whether the lower end is valid.
    pub with_from: bool,
    /// The upper end; infinity is never valid.
    pub to: f64,
    /// Whether the upper end is valid.
    pub with_to: bool,
    /// Whether the number must still be in the interval once it is rounded to float32, in which engines compute.
    pub in_float32: bool,
    /// What a reader of the message needs besides the interval; empty if nothing.
    pub hint: &'static str,
}

impl Range {
    /// Numbers above 0.
    pub const POSITIVE: Self = Self {
        with_from: false,
        ..Self::at_least(0)
    };
    /// From 0 to 1, without 1.
    pub const BELOW_ONE: Self = Self {
        with_to: false,
        ..Self::SHARE
    };
    /// From 0 to 1.
    pub const SHARE: Self = Self::of(0, 1);

    /// Numbers from `least`.
    #[allow(clippy::cast_lossless)] // `f64::from` is not const.
    pub const fn at_least(least: u32) -> Self {
        Self {
            from: least as f64,
            with_from: true,
            to: f64::INFINITY,
            with_to: false,
            in_float32: false,
            hint: "",
        }
    }

    /// Numbers from `least` to `most`.
    #[allow(clippy::cast_lossless)] // As above.
    pub const fn of(least: u32, most: u32) -> Self {
        Self {
            to: most as f64,
            with_to: true,
            ..Self::at_least(least)
        }
    }

    /// The same numbers, if they are in the interval in float32 too.
    #[must_use]
    pub const fn in_float32(self) -> Self {
        Self {
            in_float32: true,
            ..self
        }
    }

    /// The same numbers, with a hint for the message about any other.
    #[must_use]
    pub const fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }

    /// Whether a number is in the interval.
    pub fn contains(&self, number: f64) -> bool {
        let is_in = |number: f64| {
            (number > self.from || self.with_from && number >= self.from)
                && (number < self.to || self.with_to && number <= self.to)
        };
        is_in(number) && (!self.in_float32 || is_in(f64::from(number as f32)))
    }
}

/// The interval as the end of a sentence: "it must be ...".
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.from, self.to);
        match (self.with_from, to.is_finite(), self.with_to) {
            (true, false, _) => write!(f, "at least {from}"),
            (true, true, true) => write!(f, "from {from} to {to}"),
            (true, true, false) => write!(f, "at least {from} and below {to}"),
            (false, false, _) => write!(f, "a number above {from}"),
            (false, true, true) => write!(f, "above {from} and at most {to}"),
            (false, true, false) => write!(f, "above {from} and below {to}"),
        }?;
        if self.in_float32 {
            f.write_str(", in float32 too")?;
        }
        Ok(())
    }
}
