//! Which values the colours of a heatmap stand for.

use headlight_architecture::Keys;

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
pub(super) struct ColourScale<'a> {
    range: ColourRange,
    /// The keys that each query may look at. `[query]`
    keys: &'a [Keys],
    /// The most keys of a query.
    most: usize,
    first: f32,
    last: f32,
}

impl<'a> ColourScale<'a> {
    /// The scale for matrices of these queries. Values that are not finite, such as masked scores, do not widen it.
    pub(super) fn new(range: ColourRange, keys: &'a [Keys], cells: &[f32]) -> Self {
        let most = keys.iter().map(Keys::count).max().unwrap_or(0).max(1);
        let uniform = 1.0 / most as f32;
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
            most,
            first,
            last,
        }
    }

    /// The place of a query's value, from 0 to 1.
    pub(super) fn share(&self, query: usize, value: f32) -> f32 {
        let share = match self.range {
            _ if self.first >= self.last => 0.5,
            ColourRange::Uniform => {
                // The same multiple of uniform attention has the same colour in each row; a query without keys has none.
                let times = self.keys[query].times_uniform(value.into()).unwrap_or(0.0) as f32;
                (times / self.most as f32 / self.first).ln() / (self.last / self.first).ln()
            }
            _ => (value - self.first) / (self.last - self.first),
        };
        share.clamp(0.0, 1.0)
    }

    /// Whether uniform attention is the same in each row.
    fn is_same(&self) -> bool {
        self.keys.iter().all(|keys| keys.count() == self.most)
    }

    /// The values of the first and of the last colour.
    pub(super) fn ends(&self) -> [String; 2] {
        if self.range == ColourRange::Uniform && !self.is_same() {
            return ["/", "×"].map(|sign| format!("uniform{sign}{}", self.most));
        }
        [self.first, self.last].map(number)
    }

    /// The values that a colour bar names, each with its place and its text: the ends, and uniform attention if the
    /// range has it in the middle.
    pub(super) fn marks(&self) -> Vec<(f32, String)> {
        let (keys, [first, last]) = (self.most, self.ends());
        match self.range {
            ColourRange::Uniform if !self.is_same() => {
                vec![(0.0, first), (0.5, "uniform".to_owned()), (1.0, last)]
            }
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
                let keys = if self.is_same() {
                    self.most.to_string()
                } else {
                    "the keys that the query may look at".to_owned()
                };
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

    fn keys_of(counts: &[usize]) -> Vec<Keys> {
        counts.iter().map(|&count| (0..count).collect()).collect()
    }

    /// Powers of the number of keys have places that need no calculation.
    #[test]
    fn uniform_has_equal_attention_in_the_middle() {
        for keys in [4_u16, 16, 256] {
            let all = keys_of(&vec![keys.into(); keys.into()]);
            let scale = ColourScale::new(ColourRange::Uniform, &all, &[0.3]);
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
                assert!(
                    (scale.share(0, value) - place).abs() < 1e-6,
                    "{keys} {value}"
                );
            }
        }
    }

    #[test]
    fn unit_is_the_value_and_data_runs_between_the_extremes() {
        let cells = [0.25, f32::NEG_INFINITY, 0.75, 0.5];
        let keys = keys_of(&[2, 2]);
        let unit = ColourScale::new(ColourRange::Unit, &keys, &cells);
        assert_eq!(
            [0.0, 0.25, 1.0].map(|value| unit.share(0, value)),
            [0.0, 0.25, 1.0]
        );
        let data = ColourScale::new(ColourRange::Data, &keys, &cells);
        assert_eq!(
            cells.map(|value| data.share(0, value)),
            [0.0, 0.0, 1.0, 0.5]
        );
        assert_eq!(
            data.marks(),
            [(0.0, "0.25".to_owned()), (1.0, "0.75".to_owned())]
        );
    }

    /// Causal: a query with two keys of four has uniform attention at 1/2.
    #[test]
    fn the_middle_is_uniform_attention_of_each_row() {
        let keys = keys_of(&[1, 2, 3, 4, 0]);
        let scale = ColourScale::new(ColourRange::Uniform, &keys, &[0.3]);
        for (query, value) in [(0, 1.0), (1, 0.5), (2, 1.0 / 3.0), (3, 0.25)] {
            assert!((scale.share(query, value) - 0.5).abs() < 1e-6, "{query}");
        }
        assert_eq!(scale.share(1, 0.0), 0.0);
        // A query without keys has no multiple of it.
        assert_eq!(scale.share(4, 0.0), 0.0);
        assert_eq!(scale.ends(), ["uniform/4", "uniform×4"]);
    }

    /// One value, one key, or nothing but masked scores: no division by zero.
    #[test]
    fn a_range_without_extent_has_the_middle_colour() {
        for (range, keys, cells) in [
            (ColourRange::Data, [3], &[0.2, 0.2][..]),
            (ColourRange::Uniform, [1], &[1.0]),
            (ColourRange::Data, [2], &[f32::NEG_INFINITY]),
        ] {
            let keys = keys_of(&keys);
            let scale = ColourScale::new(range, &keys, cells);
            assert_eq!(scale.share(0, cells[0]), 0.5, "{range:?}");
        }
    }
}
