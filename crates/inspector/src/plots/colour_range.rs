//! Which values the colours of a heatmap stand for.

/// The range of a heatmap's colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourRange {
    /// From 0 to 1.
    Unit,
    /// Multiples of uniform attention on a logarithmic scale: from 1/n², over 1/n in the middle, to 1. A long
    /// sequence is then as bright as a short one.
    Uniform,
    /// From the smallest to the largest value of the picture.
    Data,
}

impl ColourRange {
    /// All ranges with their names.
    pub const NAMED: [(&'static str, Self); 3] = [
        ("unit", Self::Unit),
        ("uniform", Self::Uniform),
        ("data", Self::Data),
    ];
}

/// Maps values to places in the scale of colours.
pub(super) struct ColourScale {
    range: ColourRange,
    keys: usize,
    first: f32,
    last: f32,
}

impl ColourScale {
    /// The scale for matrices with `keys` keys. Values that are not finite, such as masked scores, do not widen it.
    pub(super) fn new(range: ColourRange, keys: usize, cells: &[f32]) -> Self {
        let uniform = 1.0 / keys.max(1) as f32;
        let finite = || cells.iter().copied().filter(|value| value.is_finite());
        let (first, last) = match range {
            ColourRange::Unit => (0.0, 1.0),
            ColourRange::Uniform => (uniform * uniform, 1.0),
            ColourRange::Data => (
                finite().reduce(f32::min).unwrap_or(0.0),
                finite().reduce(f32::max).unwrap_or(0.0),
            ),
        };
        Self {
            range,
            keys,
            first,
            last,
        }
    }

    /// The place of a value, from 0 to 1.
    pub(super) fn share(&self, value: f32) -> f32 {
        let share = match self.range {
            _ if self.first >= self.last => 0.5,
            ColourRange::Uniform => (value / self.first).ln() / (self.last / self.first).ln(),
            _ => (value - self.first) / (self.last - self.first),
        };
        share.clamp(0.0, 1.0)
    }

    /// The values of the first and of the last colour.
    pub(super) fn ends(&self) -> [String; 2] {
        [self.first, self.last].map(number)
    }

    /// The values that a colour bar names, each with its place and its text: the ends, and uniform attention if the
    /// range has it in the middle.
    pub(super) fn marks(&self) -> Vec<(f32, String)> {
        let (keys, [first, last]) = (self.keys, self.ends());
        match self.range {
            ColourRange::Uniform if keys > 1 => {
                let uniform = number(1.0 / keys as f32);
                vec![
                    (0.0, format!("{first} = uniform/{keys}")),
                    (0.5, format!("{uniform} = uniform")),
                    (1.0, format!("{last} = uniform×{keys}")),
                ]
            }
            _ => vec![(0.0, first), (1.0, last)],
        }
    }

    /// The sentence that explains the range.
    pub(super) fn legend(&self) -> String {
        match self.range {
            ColourRange::Unit => "colours: from 0 to 1".to_owned(),
            ColourRange::Uniform => {
                let keys = self.keys;
                format!("colours: log scale, uniform attention (1/{keys}) in the middle")
            }
            ColourRange::Data => "colours: from the smallest to the largest value".to_owned(),
        }
    }
}

/// A number with at least two digits that count.
fn number(value: f32) -> String {
    match value.abs() {
        size if size == 0.0 || size >= 0.1 => format!("{value:.2}"),
        size if size >= 0.001 => format!("{value:.4}"),
        _ => format!("{value:.0e}"),
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // Exact by construction.
mod tests {
    use super::*;

    /// Powers of the number of keys have places that need no calculation.
    #[test]
    fn uniform_has_equal_attention_in_the_middle() {
        for keys in [4_u16, 16, 256] {
            let scale = ColourScale::new(ColourRange::Uniform, keys.into(), &[0.3]);
            let n = f32::from(keys);
            for (value, place) in [
                (1.0, 1.0),
                (n.sqrt() / n, 0.75),
                (1.0 / n, 0.5),
                (1.0 / n / n.sqrt(), 0.25),
                (1.0 / n / n, 0.0),
                (1e-9, 0.0),
                (0.0, 0.0),
            ] {
                assert!((scale.share(value) - place).abs() < 1e-6, "{keys} {value}");
            }
        }
    }

    #[test]
    fn unit_is_the_value_and_data_runs_between_the_extremes() {
        let cells = [0.25, f32::NEG_INFINITY, 0.75, 0.5];
        let unit = ColourScale::new(ColourRange::Unit, 2, &cells);
        assert_eq!(
            [0.0, 0.25, 1.0].map(|value| unit.share(value)),
            [0.0, 0.25, 1.0]
        );
        let data = ColourScale::new(ColourRange::Data, 2, &cells);
        assert_eq!(cells.map(|value| data.share(value)), [0.0, 0.0, 1.0, 0.5]);
        assert_eq!(
            data.marks(),
            [(0.0, "0.25".to_owned()), (1.0, "0.75".to_owned())]
        );
    }

    /// One value, one key, or nothing but masked scores: no division by zero.
    #[test]
    fn a_range_without_extent_has_the_middle_colour() {
        for (range, keys, cells) in [
            (ColourRange::Data, 3, &[0.2, 0.2][..]),
            (ColourRange::Uniform, 1, &[1.0]),
            (ColourRange::Data, 2, &[f32::NEG_INFINITY]),
        ] {
            let scale = ColourScale::new(range, keys, cells);
            assert_eq!(scale.share(cells[0]), 0.5, "{range:?}");
        }
    }
}
